# Completion of vitals in fish. To load it: vitals completion fish | source
function __vitals_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -l prefix (string match -r -- '^--[^=]+=' $cur)
    set -l candidates ($words[1] --completion-bash $words[2..-1] $cur 2>/dev/null | string match -rv '^$')
    if test (count $candidates) -eq 0
        set candidates (__fish_complete_path (string replace -- "$prefix" '' $cur))
    end
    for candidate in $candidates
        printf '%s\n' "$prefix$candidate"
    end
end
complete -c vitals -f -a '(__vitals_complete)'
