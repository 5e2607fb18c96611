package openstack

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// pause is how long a failed login prevents another one by a collector that shares the session or
// still has a token: two collectors with one wrong password should not lock the account twice as
// fast.
const pause = 30 * time.Second

// session holds the login at one cloud and its token. It is safe for concurrent use. Its methods
// return when their context ends.
type session struct {
	source         *source
	reauthenticate time.Duration
	now            func() time.Time

	// loginSlot holds one element during a login, so that logins do not run concurrently.
	loginSlot chan struct{}

	mu    sync.Mutex // guards what follows
	login *login
	token *token
	// issued is the number of tokens that Keystone has issued to the session.
	issued uint64
	// attempts is the number of logins, also of failed ones.
	attempts uint64
	// failure is the error of the last login, and failedAt its time; nil after a success.
	failure  error
	failedAt time.Time
	// reloadErr is the error of the last reload of the credentials, or nil.
	reloadErr error
}

// newSession reads the credentials. It does not use the network.
func newSession(auth Auth, hide func(...string)) (*session, error) {
	auth = auth.withDefaults()
	source := &source{auth: auth, getenv: os.Getenv, dial: dialTCP, hide: hide}
	login, err := source.load()
	if err != nil {
		return nil, err
	}
	return &session{
		source: source, reauthenticate: time.Duration(auth.Reauthenticate), now: time.Now,
		loginSlot: make(chan struct{}, 1), login: login,
	}, nil
}

// check verifies that Keystone authenticates. It validates the held token. It logs in instead if
// there is no token, or the token expires soon, is older than reauthenticate, or was issued for
// credentials that have changed; and also if Keystone rejects the validation. A Keystone that issues
// expired tokens costs one login in the time reauthenticate. It returns the latency of the last
// response.
func (s *session) check(ctx context.Context) (*token, time.Duration, error) {
	held, now := s.held(), s.now()
	if held.expired(now) || s.due(held, now) {
		token, took, err := s.renew(ctx, held)
		if err != nil || took > 0 && !token.bornExpired() {
			return token, took, err
		}
		held = token // from a concurrent login, or doubtful: nothing was measured yet
	}
	fresh, took, err := held.validate(ctx)
	if err == nil {
		s.replace(held, fresh)
		return fresh, took, nil
	}
	rejected := reasonOf(err) == remote.ReasonAuth
	switch {
	case held.bornExpired() && rejected:
		return nil, took, newError("use a token of "+held.login.keystone(), errExpired)
	case held.bornExpired() || unreachable(err):
		return nil, took, err // a login would fail the same way
	case rejected:
		s.replace(held, nil) // the token is invalid
	}
	return s.renew(ctx, held)
}

// unreachable reports whether a request failed without a response.
func unreachable(err error) bool {
	switch reasonOf(err) {
	case remote.ReasonRefused, remote.ReasonTimeout, remote.ReasonDNS, remote.ReasonTLS:
		return true
	}
	return false
}

// use returns a token for calls to other services. Where the session belongs to
// another collector (shared), that one renews it: a login is made here only when
// there is no usable token, and not soon after one has failed. The session's own
// user renews in time, and goes on with the old token if that fails.
func (s *session) use(ctx context.Context, shared bool) (*token, error) {
	held, now := s.held(), s.now()
	failure := s.recentFailure(now)
	switch {
	case held.expired(now) && shared && failure != nil:
		return nil, failure
	case held.expired(now):
		token, _, err := s.renew(ctx, held)
		return token, err
	case !shared && failure == nil && s.due(held, now):
		half, cancel := halfOf(ctx)
		defer cancel()
		if token, _, err := s.renew(half, held); err == nil {
			return token, nil
		}
	}
	return held, nil
}

// replacement returns a new token after a service has rejected old.
func (s *session) replacement(ctx context.Context, old *token, shared bool) (*token, error) {
	now := s.now()
	if failure := s.recentFailure(now); shared && failure != nil {
		return nil, failure
	}
	if old.bornExpired() && !s.due(old, now) {
		return nil, newError("use a token of "+old.login.keystone(), errExpired)
	}
	token, _, err := s.renew(ctx, old)
	return token, err
}

// renew logs in. If another login ends while this call waits, it returns the outcome of that one.
func (s *session) renew(ctx context.Context, old *token) (*token, time.Duration, error) {
	s.mu.Lock()
	seen := s.attempts
	s.mu.Unlock()
	select {
	case s.loginSlot <- struct{}{}:
		defer func() { <-s.loginSlot }()
	case <-ctx.Done():
		return nil, 0, newError("wait for another authentication", ctx.Err())
	}

	s.mu.Lock()
	token, failure, tried := s.token, s.failure, s.attempts != seen
	s.mu.Unlock()
	if token != nil && (old == nil || token.id != old.id) && !token.expired(s.now()) {
		return token, 0, nil
	}
	if tried && failure != nil {
		return nil, 0, failure
	}
	token, took, err := issueToken(ctx, s.credentials(), s.now())
	s.record(token, err)
	return token, took, err
}

// record stores the outcome of a login.
func (s *session) record(token *token, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts++
	if err != nil {
		s.failure, s.failedAt = err, s.now()
		return
	}
	s.source.hide(token.id)
	s.failure, s.token = nil, token
	s.issued++
}

// credentials returns the login to use. It reads the files again after a change, and after a
// failed login, because the password may have been rotated. If they cannot be read, it returns
// the last valid login. The caller holds the loginSlot.
func (s *session) credentials() *login {
	s.mu.Lock()
	again := s.source.usesFiles() && (s.failure != nil || s.reloadErr != nil)
	login := s.login
	s.mu.Unlock()
	if !again && !s.source.changed() {
		return login
	}
	fresh, err := s.source.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadErr = err
	if err == nil {
		s.login.client.CloseIdleConnections()
		s.login = fresh
	}
	return s.login
}

// due reports whether a new authentication is due although the token is valid.
func (s *session) due(t *token, now time.Time) bool {
	return now.Sub(t.since) >= s.reauthenticate || t.expiresSoon(now) || s.source.changed()
}

// held returns the token, or nil.
func (s *session) held() *token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// replace replaces held by fresh, unless another token has replaced it already.
func (s *session) replace(held, fresh *token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != nil && s.token.id == held.id {
		s.token = fresh
	}
}

// recentFailure returns the error of the last login during the pause after it, else nil.
func (s *session) recentFailure(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil && now.Sub(s.failedAt) < pause {
		return s.failure
	}
	return nil
}

// count returns the number of issued tokens, and the error of the last reload of the credentials.
func (s *session) count() (issued uint64, reloadErr error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reloadErr != nil {
		return s.issued, errors.New(text.Short("reload the credentials: "+s.reloadErr.Error(), errorLimit))
	}
	return s.issued, nil
}

// close closes the idle connections.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login.client.CloseIdleConnections()
}

// halfOf returns a context with half of the time that ctx has left.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}
