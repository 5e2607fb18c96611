# Completion of vitals in bash 4.3 or later. To load it: source <(vitals completion bash)
_vitals() {
    local cur='' word option value prefix i
    local -a words=()
    # Bash splits words at = and :, which flags and the names of shipped rules contain.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && ($word == [=:]* || $cur == *[=:]) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        cur=${words[-1]}
    done
    value=$cur
    [[ $cur != --*=* ]] || value=${cur#*=}
    # What bash has split off stays on the line.
    prefix=${value%"${value##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r option; do
        [[ -n $option && $option == "$value"* ]] || continue
        printf -v option %q "${option#"$prefix"}"
        COMPREPLY+=("$option")
    done < <("${COMP_WORDS[0]}" --completion-bash "${words[@]}" 2>/dev/null; echo)
}
complete -o default -F _vitals vitals
