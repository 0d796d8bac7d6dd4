# bash completion of kaa; 'kaa help --completion bash' prints it.

# The words of the line up to the cursor, as kaa gets them: readline also cuts at = and :. at[i] is where
# words[i] begins in COMP_WORDS.
_kaa_split()
{
	local i word line=$COMP_LINE
	words=() at=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $i == 0 || $line == [[:space:]]* ]]; then
			words+=("$word") at+=("$i")
		else
			words[${#words[@]} - 1]+=$word
		fi
		line=${line#"${line%%[![:space:]]*}"}
		line=${line#"$word"}
	done
}

# PREFIX WORD...: offers the words that go on as what is typed. Words are data here, never code.
_kaa_offer()
{
	local prefix=$1 word
	shift
	for word; do
		[[ $prefix$word != "$cur"* ]] || COMPREPLY+=("$prefix$word")
	done
}

# Readline replaces only what stands behind the last = or :.
_kaa_cut()
{
	local breaks=${COMP_WORDBREAKS//[^=:]/} head i
	[[ $breaks ]] || return 0
	head=${cur%"${cur##*[$breaks]}"}
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]#"$head"}
	done
}

# PREFIX FOLDER...: offers processes or threads, those of the kernel excepted, with their names where there is
# more than one. A name is shown only; what goes to the line is the number.
_kaa_offer_processes()
{
	local prefix=$1 folder line name id ids=() shown=()
	shift
	for folder; do
		id=${folder##*/} line=
		[[ $prefix$id == "$cur"* ]] || continue
		{ IFS= read -r -d '' line <"$folder/cmdline"; } 2>/dev/null
		[[ $line ]] || continue
		{ IFS= read -r name <"$folder/comm"; } 2>/dev/null || continue
		ids+=("$prefix$id")
		shown+=("$prefix$id  ${name//[^[:print:]]/?}")
	done
	# 37, 42: readline puts what is offered into the line as it stands.
	if ((${#ids[@]} > 1 && COMP_TYPE != 37 && COMP_TYPE != 42)); then
		COMPREPLY=("${shown[@]}")
	else
		COMPREPLY=("${ids[@]}")
	fi
}

# HEAD: offers values of the option that _kaa_table told of; HEAD stands before the value in the word.
_kaa_offer_value()
{
	local head=$1 typed=${cur#"$1"} item word fresh=()
	if [[ $several ]]; then
		item=${typed##*,}
		head+=${typed%"$item"}
		[[ $value != words || $item != [+-]* ]] || head+=${item:0:1}
		compopt -o nospace
	fi
	case $value in
	words)
		for word in $choices; do
			[[ ,$head == *[,=+-]"$word",* ]] || fresh+=("$word")
		done
		_kaa_offer "$head" "${fresh[@]}"
		compopt +o default
		;;
	process) compopt +o default; _kaa_offer_processes "$head" /proc/[0-9]* ;;
	thread) compopt +o default; _kaa_offer_processes "$head" /proc/[0-9]*/task/[0-9]* ;;
	directory) compopt +o default -o dirnames ;;
	file) ;;
	*) compopt +o default ;;
	esac
}

# WORD: sets option to the option of -abc whose argument is the next word, and stuck to one whose argument is the rest.
_kaa_short()
{
	local word=$1 k
	option= stuck=
	for ((k = 1; k < ${#word}; k++)); do
		_kaa_table "$command" "-${word:k:1}"
		[[ $value ]] || continue
		if ((k + 1 == ${#word})); then option=-${word:k:1}; else stuck=${word:0:k+1}; fi
		return
	done
}

# INDEX: the command that kaa starts stands there in words.
_kaa_offer_program()
{
	local name
	if (($1 + 1 < ${#words[@]})); then
		foreign=1
		if declare -F _comp_command_offset >/dev/null; then
			_comp_command_offset "${at[$1]}"
		elif declare -F _command_offset >/dev/null; then
			_command_offset "${at[$1]}"
		fi
		return
	fi
	compopt -o filenames
	while IFS= read -r name; do
		COMPREPLY+=("$name")
	done < <(compgen -c -- "$cur"; compgen -d -- "$cur"; compgen -f -X '!*.py' -- "$cur")
}

_kaa_offer_operand()
{
	case $operands in
	commands) _kaa_offer '' $commands; compopt +o default ;;
	programs) _kaa_offer_program $((${#words[@]} - 1)) ;;
	files) ;;
	*) [[ $1 ]] || _kaa_offer '' $options; compopt +o default ;;
	esac
}

# Goes over the words behind the command. True if that offered what there is for the current one.
_kaa_walk()
{
	local i=2 last=$((${#words[@]} - 1)) word
	while ((i < last)); do
		word=${words[i++]} option= value=
		case $word in
		--) ended=1; [[ $operands != command_line ]] || { _kaa_offer_program "$i"; return 0; }; return 1 ;;
		--*=*) ;;
		--*) option=$word ;;
		-?*) _kaa_short "$word" ;;
		*) [[ $operands != command_line ]] || { _kaa_offer_program $((i - 1)); return 0; } ;;
		esac
		[[ $option ]] || continue
		_kaa_table "$command" "$option"
		[[ $value && ! $only_stuck && ! ($optional && ${words[i]} == -*) ]] || continue
		((i < last)) || { _kaa_offer_value ''; return 0; }
		((++i))
	done
	return 1
}

_kaa_behind_command()
{
	local ended= option= stuck= value= several= only_stuck= optional= choices=
	_kaa_table "$command" ''
	_kaa_walk && return
	if [[ $ended || $cur != -* ]]; then
		if [[ $operands == command_line ]]; then _kaa_offer_program $((${#words[@]} - 1)); else _kaa_offer_operand "$ended"; fi
		return
	fi
	case $cur in
	--*=*) value=; _kaa_table "$command" "${cur%%=*}"; _kaa_offer_value "${cur%%=*}=" ;;
	--no-*) _kaa_offer '' $options $opposites; compopt +o default ;;
	--*) _kaa_offer '' $options; compopt +o default ;;
	*)
		_kaa_short "$cur"
		if [[ $stuck ]]; then _kaa_offer_value "$stuck"; else _kaa_offer '' $short $options; fi
		compopt +o default
		;;
	esac
}

_kaa()
{
	local words at cur command options short opposites operands commands foreign= IFS=$' \t\n'
	COMPREPLY=()
	_kaa_commands
	_kaa_split
	cur=${words[${#words[@]} - 1]}
	command=${words[1]}
	if ((${#words[@]} > 2)); then
		_kaa_behind_command
	else
		_kaa_offer '' $commands
		[[ $cur != -* ]] || _kaa_offer '' --help --version
		compopt +o default
	fi
	[[ $foreign ]] || _kaa_cut
}
complete -o default -F _kaa kaa
