# Completion of vitals in fish. To load it: vitals completion fish | source
function __vitals_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -l prefix (string match -r -- '^--[^=]+=' $cur)
    set -l options ($words[1] --completion-bash $words[2..-1] $cur 2>/dev/null | string match -rv '^$')
    if test (count $options) -gt 0
        for option in $options
            echo -- "$prefix$option"
        end
    else
        __fish_complete_path $cur
    end
end
complete -c vitals -f -a '(__vitals_complete)'
