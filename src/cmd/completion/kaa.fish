# fish completion of kaa; 'kaa help --completion fish' prints it.

# Is the argument of this option of this command the next word? Of -abc it is, if c takes one and a and b take none.
function __kaa_wants_next --argument-names command option
	if string match -q -- '--*' $option
		__kaa_takes "$command $option"
		return
	end
	set -l letters (string split '' -- (string sub -s 2 -- $option))
	while set -q letters[1]
		if __kaa_takes "$command -$letters[1]"
			test (count $letters) -eq 1
			return
		end
		set -e letters[1]
	end
	return 1
end

# The words of the command that kaa starts; false where it has not begun.
function __kaa_program
	set -l words (commandline -opc)
	set -l i 3
	while test $i -le (count $words)
		switch $words[$i]
			case --
				set -e words[1..$i]
				printf '%s\n' $words
				return 0
			case '--*=*'
			case '-?*'
				__kaa_wants_next $words[2] $words[$i]; and set i (math $i + 1)
			case '*'
				printf '%s\n' $words[$i..-1]
				return 0
		end
		set i (math $i + 1)
	end
	return 1
end

# Are we behind this command, in its own words?
function __kaa_in --argument-names command
	set -l words (commandline -opc)
	test "$words[2]" = "$command"; or return 1
	if contains -- $command $__kaa_starters
		not __kaa_program >/dev/null
	end
end

function __kaa_in_program
	set -l words (commandline -opc)
	contains -- "$words[2]" $__kaa_starters; or return 1
	__kaa_program >/dev/null; or not string match -q -- '-*' (commandline -ct)
end

# Are we behind this command, at a word that is no option?
function __kaa_at_operand
	not string match -q -- '-*' (commandline -ct); and __kaa_in $argv[1]
end

# Are we behind this command, with --no- typed?
function __kaa_in_opposite
	string match -q -- '--no-*' (commandline -ct); and __kaa_in $argv[1]
end

function __kaa_at_command
	test (count (commandline -opc)) -eq 1
end

# What the started command offers, and scripts of Python, which need not be executable.
function __kaa_complete_program
	set -l words (__kaa_program)
	set -l line (string join ' ' -- (string escape -- $words) (commandline -ct))
	complete -C $line
	set -q words[1]; or complete -C "'' "(commandline -ct) | string match -r '.*\.py$'
end

# Words with commas between them; each may have a sign.
function __kaa_list
	set -l typed (string replace -r '^--[^=]*=' '' -- (commandline -ct))
	set -l head (string match -r '^(?:.*,)?[+-]?' -- $typed)
	for word in $argv
		string match -qr -- "(^|[,+-])$word," $head; and continue
		printf '%s%s\n' "$head" $word
	end
end

# FILE...: processes or threads by their files comm, those of the kernel excepted, with their names. grep reads the
# files, since fish prints a warning about one that is gone by then.
function __kaa_running
	set -l typed (string replace -r '^--[^=]*=' '' -- (commandline -ct))
	set -l head (string match -r '^(?:.*,)?' -- $typed)
	set -l found (grep -als . (string replace -r 'comm$' cmdline -- $argv) | string replace -r 'cmdline$' comm)
	set -q found[1]; or return
	for line in (grep -aHs '' $found)
		set -l parts (string match -r '([0-9]+)/comm:(.*)' -- $line); or continue
		printf '%s\t%s\n' $head$parts[2] (string replace -ra '[[:cntrl:]]' '?' -- $parts[3])
	end
end

complete -c kaa -f
complete -c kaa -n __kaa_in_program -x -a '(__kaa_complete_program)'
complete -c kaa -n __kaa_at_command -l help -s h -d 'show help'
complete -c kaa -n __kaa_at_command -l version -s V -d 'print the version of kaa'
