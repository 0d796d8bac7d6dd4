// SPDX-License-Identifier: GPL-2.0-only
#include "assert_ok.h"

#include <string.h>

#include "view/cython_name.h"

static void expect(const char *symbol, const char *module, const char *name)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_int_equal(cython_name(symbol, module, strlen(module), &out),
			 name != NULL);
	assert_string_equal(out.len ? out.data : "", name ?: "");
}

static void test_functions(void **state)
{
	(void)state;
	expect("__pyx_pw_3app_5tools_4Shop_7sold", "tools", "Shop.sold");
	expect("__pyx_pw_3app_5tools_7sold", "tools", "sold");
	expect("__pyx_pw_5tools_3get_item", "tools", "get_item");
	expect("__pyx_f_3app_5tools_4Shop_sold", "tools", "Shop.sold");
	expect("__pyx_pw_10sqlalchemy_3sql_13_cache_key_cy_15BaseHasCacheKey_"
	       "1_gen_cache_key",
	       "_cache_key_cy", "BaseHasCacheKey._gen_cache_key");
	expect("__pyx_pw_5tools_4Shop_3_in_stock", "tools", "Shop._in_stock");
}

static void test_other_names(void **state)
{
	(void)state;
	expect("PyList_Sort", "tools", NULL);
	expect("__Pyx_Generator_Next", "tools", NULL);
	expect("__pyx_pw_3app_5other_4sold", "tools", NULL);
	expect("__pyx_pw_", "tools", NULL);
	expect("__pyx_pw_99999999999999999999tools_x", "tools", NULL);
	expect("__pyx_pw_5tool", "tools", NULL);
	expect("__pyx_pw_5tools", "tools", NULL);
	expect("__pyx_pw_tools_x", "", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
