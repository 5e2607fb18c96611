package lint

// DefaultSeverity returns the severity that a check has where a finding says no other.
func DefaultSeverity(code string) Severity {
	for _, c := range checks() {
		if c.Code == code {
			return c.Severity
		}
	}
	panic("no check " + code)
}
