# zsh completion of kaa; 'kaa help --completion zsh' prints it.

# Words with commas between them; the first may have a sign.
_kaa_list()
{
	local typed=$PREFIX word
	for word; do
		[[ $typed != (*[,+=-]|)$word,* ]] || argv=("${(@)argv:#$word}")
	done
	compset -P '*,'
	compset -P '[+-]'
	compset -S ',*'
	compadd -q -S , -a - argv
}

# FOLDER...: processes or threads, those of the kernel excepted, with their names.
_kaa_running()
{
	local folder line name expl
	local -a ids shown
	for folder; do
		line= name=
		{ line=$(<$folder/cmdline); name=$(<$folder/comm) } 2>/dev/null
		[[ -n $line ]] || continue
		ids+=(${folder:t})
		shown+=("${folder:t}  ${(V)name}")
	done
	_wanted processes expl process compadd -l -d shown -a - ids
}

_kaa_processes() { compset -P '*,'; _kaa_running /proc/<->(N) }
_kaa_threads() { compset -P '*,'; _kaa_running /proc/<->/task/<->(N) }

# What kaa starts: a program, or a script of Python, which need not be executable.
_kaa_program()
{
	_alternative 'commands:command:_command_names -e' 'scripts:script:_files -g "*.py"'
}

# What the started command offers. words is --, if there is one, and its words.
_kaa_started()
{
	if [[ $words[1] == -- ]]; then
		shift words
		(( CURRENT-- ))
	fi
	if (( CURRENT == 1 )); then _kaa_program; else _normal; fi
}

_kaa_describe_commands() { _describe -t commands 'kaa command' kaa_commands }

_kaa()
{
	local curcontext=$curcontext command=$words[2]
	local -a kaa_commands
	_kaa_commands
	if (( CURRENT == 2 )); then
		_kaa_describe_commands
		return
	fi
	shift words
	(( CURRENT-- ))
	curcontext="${curcontext%:*:*}:kaa-$command:"
	_kaa_arguments $command
}

if [[ $funcstack[1] == _kaa ]]; then
	_kaa "$@"
else
	compdef _kaa kaa
fi
