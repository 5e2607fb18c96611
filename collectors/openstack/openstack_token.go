package openstack

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

const (
	// renewal is how long before its end a token is replaced, or a tenth of
	// its life if that is shorter: two minutes outlast several rounds at the usual
	// intervals, and the tenth keeps a token that lives for seconds, as some test
	// clouds issue them, from being replaced in each round.
	renewal = 2 * time.Minute
	tenth   = 10
)

// token is one token and what Keystone said with it. It is immutable.
type token struct {
	id    string
	login *login
	// issued and expires are by Keystone's clock.
	issued, expires time.Time
	// since and until are the same by the local clock, however wrong that is.
	since, until time.Time
	// project is the id of the project that the token is for; empty without one.
	project string
	catalog *tokens.ServiceCatalog
}

// tokenAnswer is what Keystone answers to the creation and the validation of a
// token (Identity API v3, "Password authentication with scoped authorization").
type tokenAnswer struct {
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
	errTokenless  = errors.New("the answer holds no token")
	errExpiryless = errors.New("the answer does not say when the token expires")
)

// issueToken logs in: it asks Keystone for a new token.
func issueToken(ctx context.Context, login *login, now time.Time) (*token, time.Duration, error) {
	op := "authenticate at " + login.keystone()
	body, err := tokenRequest(login.options)
	if err != nil {
		return nil, 0, newError(op, err, login.secrets()...)
	}
	var answer tokenAnswer
	header, took, err := callOpenStack(ctx, login, "", op, http.MethodPost, login.keystone()+"auth/tokens", &gophercloud.RequestOpts{
		JSONBody: body, JSONResponse: &answer, OkCodes: []int{http.StatusCreated, http.StatusOK},
	})
	if err != nil {
		return nil, took, err
	}
	t := &token{id: header.Get("X-Subject-Token"), login: login, issued: answer.Token.IssuedAt, since: now, project: answer.Token.Project.ID}
	if t.id == "" {
		return nil, took, newError(op, errTokenless)
	}
	if err := t.take(answer); err != nil {
		return nil, took, newError(op, err)
	}
	return t, took, nil
}

// take sets what validation may change: the end of the token and the catalog.
func (t *token) take(answer tokenAnswer) error {
	t.expires = answer.Token.ExpiresAt
	if t.expires.IsZero() {
		return errExpiryless
	}
	t.until = t.expires
	if !t.issued.IsZero() {
		t.until = t.since.Add(t.expires.Sub(t.issued))
	}
	if answer.Token.Catalog != nil || t.catalog == nil {
		t.catalog = &tokens.ServiceCatalog{Entries: answer.Token.Catalog}
	}
	return nil
}

// validate asks Keystone whether the token is still good, with the token itself as
// the credential, and returns it with the catalog as it is now.
func (t *token) validate(ctx context.Context) (*token, time.Duration, error) {
	op := "validate the token at " + t.login.keystone()
	var answer tokenAnswer
	_, took, err := callOpenStack(ctx, t.login, t.id, op, http.MethodGet, t.login.keystone()+"auth/tokens", &gophercloud.RequestOpts{
		JSONResponse: &answer, OkCodes: []int{http.StatusOK}, MoreHeaders: map[string]string{"X-Subject-Token": t.id},
	})
	if err != nil {
		return nil, took, err
	}
	fresh := *t
	if err := fresh.take(answer); err != nil {
		return nil, took, newError(op, err)
	}
	return &fresh, took, nil
}

// expired says whether the token is of no use any more; no token is expired.
func (t *token) expired(now time.Time) bool { return t == nil || !now.Before(t.until) }

// ending says whether the token is about to expire.
func (t *token) ending(now time.Time) bool {
	return t.until.Sub(now) < min(renewal, t.until.Sub(t.since)/tenth)
}

// endpoint looks a service up in the catalog. An empty region or side means the
// login's. It makes no call: gophercloud's own way, NewNetworkV2 and its like, asks
// the service for its versions under a context that never ends.
func (t *token) endpoint(ctx context.Context, service, region string, side gophercloud.Availability) (string, error) {
	options := gophercloud.EndpointOpts{Region: region, Availability: side}
	if region == "" {
		options.Region = t.login.region
	}
	if side == "" {
		options.Availability = t.login.side
	}
	options.ApplyDefaults(service)
	url, err := openstack.V3Endpoint(ctx, t.provider(), t.catalog, options)
	if err == nil && url == "/" { // An endpoint without an address.
		err = &gophercloud.ErrEndpointNotFound{}
	}
	return url, err
}

func (t *token) provider() *gophercloud.ProviderClient { return providerOf(t.login, t.id) }

// providerOf makes gophercloud's client for one token, or for none while it is
// empty. It never re-authenticates by itself: whoever holds the token decides that.
func providerOf(login *login, token string) *gophercloud.ProviderClient {
	provider := &gophercloud.ProviderClient{TokenID: token, HTTPClient: *login.client}
	provider.UserAgent.Prepend("vitals")
	return provider
}

// callOpenStack makes one request and says how long the answer took; zero if there
// was none. Its errors have a reason.
func callOpenStack(ctx context.Context, login *login, token, op, method, url string, options *gophercloud.RequestOpts) (http.Header, time.Duration, error) {
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
