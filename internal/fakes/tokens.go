package fakes

import (
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"
)

// maxTokens bounds the stored tokens; the oldest are dropped first.
const maxTokens = 10_000

// token is a token that Keystone issued.
type token struct {
	id      string
	number  int // counts the tokens issued, from 1
	issued  time.Time
	expires time.Time
	scoped  bool
}

// tokens stores the valid tokens. It is safe for concurrent use.
type tokens struct {
	lifetime time.Duration

	mu     sync.Mutex // guards what follows
	byID   map[string]token
	issued int
	oldest int // no token with a smaller number is stored
}

func newTokens(lifetime time.Duration) *tokens {
	return &tokens{lifetime: lifetime, byID: make(map[string]token), oldest: 1}
}

// issue makes a token and stores it.
func (t *tokens) issue(at time.Time, scoped bool) token {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.issued++
	tok := token{id: newTokenID(), number: t.issued, issued: at, expires: at.Add(t.lifetime), scoped: scoped}
	t.byID[tok.id] = tok
	if len(t.byID) > maxTokens {
		t.dropLocked(at)
	}
	return tok
}

// dropLocked drops expired tokens and the older half of the rest.
func (t *tokens) dropLocked(at time.Time) {
	t.oldest = t.issued - maxTokens/2
	for id, tok := range t.byID {
		if tok.number < t.oldest || !tok.expires.After(at) {
			delete(t.byID, id)
		}
	}
}

// lookup returns a token that is valid at a time.
func (t *tokens) lookup(id string, at time.Time) (token, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tok, ok := t.byID[id]
	return tok, ok && tok.expires.After(at)
}

// revoke makes a token invalid.
func (t *tokens) revoke(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}

// revokeAll makes every token invalid.
func (t *tokens) revokeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.byID)
}

// last is the number of the latest token.
func (t *tokens) last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.issued
}

// newTokenID makes an identifier with the shape of a Fernet token of Keystone: 183
// characters that begin with the version and the first bytes of the time.
func newTokenID() string {
	var random [134]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	return "gAAAA" + base64.RawURLEncoding.EncodeToString(random[:])[:178]
}
