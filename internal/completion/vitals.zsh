#compdef vitals
# Completion of vitals in zsh. To load it, after compinit: source <(vitals completion zsh)
_vitals() {
    local -a options
    options=("${(@f)$("${words[1]}" --completion-bash "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    options=("${(@)options:#}")
    [[ $PREFIX != --*=* ]] || compset -P '*='
    compadd -a options || _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _vitals "$@"
else
    compdef _vitals vitals
fi
