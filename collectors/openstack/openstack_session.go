package openstack

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/vitals-health/vitals/collectors/remote"
)

// pause is how long a failed login is remembered for those who can do
// without a new one or leave it to somebody else: two collectors with one wrong
// password shall not lock the account twice as fast.
const pause = 30 * time.Second

// session holds one login at one cloud and the token that it gave. It is
// safe for concurrent use; no call of it waits longer than its context allows.
type session struct {
	source         *source
	reauthenticate time.Duration
	now            func() time.Time

	// turn holds one element while somebody logs in, so that nobody else does.
	turn chan struct{}

	mu    sync.Mutex // guards what follows
	login *login
	token *token
	// issued counts the tokens that Keystone issued to the session.
	issued uint64
	// attempts counts the logins tried.
	attempts uint64
	// failure is why the last login failed, and failedAt when; nil after a success.
	failure  error
	failedAt time.Time
	// unread is why the credentials could not be read again; nil if they could.
	unread error
}

// newOpenStackSession reads the credentials. It talks to nobody.
func newOpenStackSession(auth Auth) (*session, error) {
	auth = auth.withDefaults()
	source := &source{auth: auth, getenv: os.Getenv, dial: dialOpenStack}
	login, err := source.load()
	if err != nil {
		return nil, err
	}
	return &session{
		source: source, reauthenticate: time.Duration(auth.Reauthenticate), now: time.Now,
		turn: make(chan struct{}, 1), login: login,
	}, nil
}

// check proves that Keystone authenticates: it validates the held token, and issues
// a new one where there is none, where the held one nears its end, has reached the
// age for a new authentication, stems from credentials that have changed since, or
// fails validation with an answer. It returns how long the answer took.
func (s *session) check(ctx context.Context) (*token, time.Duration, error) {
	held, now := s.held(), s.now()
	if held.expired(now) || s.due(held, now) {
		token, took, err := s.renew(ctx, held)
		if err != nil || took > 0 {
			return token, took, err
		}
		held = token // Somebody else has just logged in; nothing was measured yet.
	}
	fresh, took, err := held.validate(ctx)
	if err == nil {
		s.replace(held, fresh)
		return fresh, took, nil
	}
	switch reasonOf(err) {
	case remote.ReasonRefused, remote.ReasonTimeout, remote.ReasonDNS, remote.ReasonTLS:
		return nil, took, err // A login would meet the same.
	case remote.ReasonAuth:
		s.replace(held, nil) // Keystone says that the token is dead.
	}
	return s.renew(ctx, held)
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

// refused returns another token than the one that a service has refused.
func (s *session) refused(ctx context.Context, old *token, shared bool) (*token, error) {
	if failure := s.recentFailure(s.now()); shared && failure != nil {
		return nil, failure
	}
	token, _, err := s.renew(ctx, old)
	return token, err
}

// renew logs in, unless somebody else did so, or failed to, while this call waited
// for its turn: then it returns that outcome.
func (s *session) renew(ctx context.Context, old *token) (*token, time.Duration, error) {
	s.mu.Lock()
	seen := s.attempts
	s.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
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

// record notes the outcome of a login.
func (s *session) record(token *token, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts++
	if err != nil {
		s.failure, s.failedAt = err, s.now()
		return
	}
	s.failure, s.token = nil, token
	s.issued++
}

// credentials returns the login to use, read anew if its files have changed or if
// the last login failed: the password may have been rotated. What cannot be read
// leaves the last good login in use. The caller has the turn.
func (s *session) credentials() *login {
	s.mu.Lock()
	again := s.source.files() && (s.failure != nil || s.unread != nil)
	login := s.login
	s.mu.Unlock()
	if !again && !s.source.changed() {
		return login
	}
	fresh, err := s.source.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread = err
	if err == nil {
		s.login.client.CloseIdleConnections()
		s.login = fresh
	}
	return s.login
}

// due says whether a new authentication is wanted although the token is usable.
func (s *session) due(t *token, now time.Time) bool {
	return now.Sub(t.since) >= s.reauthenticate || t.ending(now) || s.source.changed()
}

// held returns the token; nil if there is none.
func (s *session) held() *token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// replace puts fresh in the place of held, unless there is another token by now.
func (s *session) replace(held, fresh *token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != nil && s.token.id == held.id {
		s.token = fresh
	}
}

// recentFailure returns why the last login failed, if that is not long ago.
func (s *session) recentFailure(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil && now.Sub(s.failedAt) < pause {
		return s.failure
	}
	return nil
}

// count returns how many tokens were issued, and why the credentials could not be
// read again; nil if they could.
func (s *session) count() (issued uint64, unread error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread != nil {
		return s.issued, errors.New(openStackText("read the credentials again: "+s.unread.Error(), errorLimit))
	}
	return s.issued, nil
}

// close ends the connections that are kept between rounds.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.login.client.CloseIdleConnections()
}

// halfOf returns a context that ends in the middle of the time that ctx has left,
// so that something else can still be done in the other half.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}
