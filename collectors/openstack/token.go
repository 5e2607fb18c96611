package openstack

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

const (
	// renewal is how long before its expiry a token is replaced, or a tenth of its
	// lifetime if that is shorter. Two minutes are several collections at the usual
	// intervals. The tenth is for test clouds, whose tokens live for seconds.
	renewal = 2 * time.Minute
	tenth   = 10
)

// token is one token with its properties. It is immutable.
type token struct {
	id    string
	login *login
	// issued and expires are times of Keystone's clock.
	issued, expires time.Time
	// since and until are the same times of the local clock, which may differ.
	since, until time.Time
	// project is the id of the token's project; empty without one.
	project string
	catalog *tokens.ServiceCatalog
}

// tokenResponse is the response to the creation and the validation of a token
// (Identity API v3, "Password authentication with scoped authorization").
type tokenResponse struct {
	Token struct {
		ExpiresAt time.Time `json:"expires_at"`
		IssuedAt  time.Time `json:"issued_at"`
		Project   struct {
			ID string `json:"id"`
		} `json:"project"`
		Catalog []tokens.CatalogEntry `json:"catalog"`
	} `json:"token"`
}

var (
	errNoToken  = errors.New("the response has no token")
	errNoExpiry = errors.New("the response has no expiry of the token")
	errExpired  = errors.New("the tokens that Keystone issues have expired, and it rejects them: expected an expires_at after issued_at")
)

// issueToken logs in: it requests a new token.
func issueToken(ctx context.Context, login *login, now time.Time) (*token, time.Duration, error) {
	op := "authenticate at " + login.keystone()
	body, err := tokenRequest(login.options)
	if err != nil {
		return nil, 0, newError(op, err, login.secrets()...)
	}
	var response tokenResponse
	header, took, err := call(ctx, login, "", op, http.MethodPost, login.keystone()+"auth/tokens", &gophercloud.RequestOpts{
		JSONBody: body, JSONResponse: &response, OkCodes: []int{http.StatusCreated, http.StatusOK},
	})
	if err != nil {
		return nil, took, err
	}
	t := &token{id: header.Get("X-Subject-Token"), login: login, issued: response.Token.IssuedAt, since: now, project: response.Token.Project.ID}
	if t.id == "" {
		return nil, took, newError(op, errNoToken)
	}
	if err := t.update(response); err != nil {
		return nil, took, newError(op, err)
	}
	return t, took, nil
}

// update sets the expiry and the catalog, which a validation may change.
func (t *token) update(response tokenResponse) error {
	t.expires = response.Token.ExpiresAt
	if t.expires.IsZero() {
		return errNoExpiry
	}
	t.until = t.expires
	if !t.issued.IsZero() {
		t.until = t.since.Add(t.expires.Sub(t.issued))
	}
	if response.Token.Catalog != nil || t.catalog == nil {
		t.catalog = &tokens.ServiceCatalog{Entries: response.Token.Catalog}
	}
	return nil
}

// validate sends the token to Keystone for validation, with the token as the credential. It returns
// the token with the current catalog.
func (t *token) validate(ctx context.Context) (*token, time.Duration, error) {
	op := "validate the token at " + t.login.keystone()
	var response tokenResponse
	_, took, err := call(ctx, t.login, t.id, op, http.MethodGet, t.login.keystone()+"auth/tokens", &gophercloud.RequestOpts{
		JSONResponse: &response, OkCodes: []int{http.StatusOK}, MoreHeaders: map[string]string{"X-Subject-Token": t.id},
	})
	if err != nil {
		return nil, took, err
	}
	fresh := *t
	if err := fresh.update(response); err != nil {
		return nil, took, newError(op, err)
	}
	return &fresh, took, nil
}

// bornExpired reports whether the token had expired when it was issued. Its expiry is then not used:
// a new token would have expired as well. The token is replaced when its age requires it.
func (t *token) bornExpired() bool { return !t.since.Before(t.until) }

// expired reports whether the token has expired. A nil token has.
func (t *token) expired(now time.Time) bool {
	return t == nil || !now.Before(t.until) && !t.bornExpired()
}

// expiresSoon reports whether the token should be replaced before it expires.
func (t *token) expiresSoon(now time.Time) bool {
	return t.until.Sub(now) < min(renewal, t.until.Sub(t.since)/tenth) && !t.bornExpired()
}

// endpoint looks up a service in the catalog. An empty region or side means that of the login.
// gophercloud's NewNetworkV2 and similar functions are not used: they request the versions of the
// service, with a context that never ends.
func (t *token) endpoint(ctx context.Context, service, region string, side gophercloud.Availability) (string, error) {
	options := gophercloud.EndpointOpts{Region: region, Availability: side}
	options.ApplyDefaults(service)
	options.Availability = side
	return t.endpointOf(ctx, options)
}

func (t *token) provider() *gophercloud.ProviderClient { return providerOf(t.login, t.id) }

// providerOf returns gophercloud's client for a token; empty means none. The client does not
// re-authenticate, because the session does.
func providerOf(login *login, token string) *gophercloud.ProviderClient {
	provider := &gophercloud.ProviderClient{TokenID: token, HTTPClient: *login.client}
	provider.UserAgent.Prepend("vitals")
	return provider
}

// call sends one request. It returns the latency of the response, or zero without one. Its errors
// have a reason.
func call(ctx context.Context, login *login, token, op, method, url string, options *gophercloud.RequestOpts) (http.Header, time.Duration, error) {
	start := time.Now()
	response, err := providerOf(login, token).Request(ctx, method, url, options)
	took := time.Since(start)
	if err == nil {
		return response.Header, took, nil
	}
	if !isError[gophercloud.ErrUnexpectedResponseCode](err) {
		took = 0
	}
	failure := newError(op, err, append(login.secrets(), token)...)
	return nil, took, failure
}
