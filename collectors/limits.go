package collectors

// MaxReason is the length in bytes at which a reason is cut.
const MaxReason = 512

// MaxNote is the length in bytes at which a note is cut.
const MaxNote = 200
