// SPDX-License-Identifier: GPL-2.0-only
// Names that a C++ compiler mangles: templates, operators, lambdas, members.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cpu_time.h"

#define CALLED __attribute__((noinline))

namespace work {

volatile unsigned long sink;

template <typename T, int N> struct Burner {
	T value;

	CALLED Burner operator+(const Burner &other) const
	{
		for (int i = 0; i < N; i++)
			sink = sink + static_cast<unsigned long>(other.value) * i;
		return Burner{ static_cast<T>(value + 1) };
	}
};

template <typename T> CALLED void run(const std::vector<T> &values,
				      const std::function<void(T)> &call)
{
	for (const T &value : values)
		call(value);
	sink = sink + 1;
}

CALLED void sort_names(std::map<std::string, int> &names)
{
	std::vector<std::string> keys;

	for (const auto &entry : names)
		keys.push_back(entry.first + "x");
	std::sort(keys.begin(), keys.end(),
		  [](const std::string &a, const std::string &b) {
			  return a.back() < b.back() || a > b;
		  });
	sink = sink + keys.size();
}

} // namespace work

int main()
{
	std::vector<double> values(200, 1.5);
	std::map<std::string, int> names;

	for (int i = 0; i < 300; i++)
		names[std::to_string(i * 7919)] = i;
	for (double end = cpu_time() + 0.1; cpu_time() < end;) {
		work::run<double>(values, [](double v) {
			work::Burner<double, 3000> a{ v }, b{ v };
			work::sink = work::sink + (a + b).value;
		});
		work::sort_names(names);
	}
	return 0;
}
