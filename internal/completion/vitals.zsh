#compdef vitals
# Completion of vitals in zsh. To load it, after compinit: source <(vitals completion zsh)
_vitals() {
    local -a candidates
    candidates=("${(@f)$("${words[1]}" --completion-bash "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    candidates=("${(@)candidates:#}")
    [[ $PREFIX != --*=* ]] || compset -P '*='
    compadd -a candidates || _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _vitals "$@"
else
    compdef _vitals vitals
fi
