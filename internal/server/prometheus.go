package server

import (
	"net/http"

	"github.com/vitals-health/vitals/internal/server/promapi"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// rules serves /api/v1/rules.
func (s *Server) rules(w http.ResponseWriter, r *http.Request, v *view) {
	found, err := promapi.Rules(v.snap, r.URL.Query())
	if err != nil {
		reply.Send(w, http.StatusBadRequest, "application/json", reply.Encode(promapi.BadData(text.Line(err.Error(), maxLine))))
		return
	}
	sendJSON(w, r, reply.Encode(found))
}

// alerts serves /api/v1/alerts.
func (s *Server) alerts(w http.ResponseWriter, r *http.Request, v *view) {
	render := func() []byte { return reply.Encode(promapi.Alerts(v.snap)) }
	s.shared.current(pathAlerts, v, s.opts.Now(), render).sendAs(w, r, "application/json", "no-store")
}
