package states

// The words for the verdict of a state and the status of a rule, in all that people read. A
// rule has no warning, and a state is not pending: docs/reference/verdicts.md has what each
// means, and which word each format for machines has for it.
const (
	OK      = "ok"
	Warning = "warning"
	Failing = "failing"
	Unknown = "unknown"
	Pending = "pending"
)

// Words returns all of them.
func Words() []string { return []string{OK, Warning, Failing, Unknown, Pending} }
