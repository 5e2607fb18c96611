package server

import (
	"net/http"
	"strings"

	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/server/verdicts"
)

// Bounds of the texts in responses, in bytes.
const (
	maxText = verdicts.MaxText
	maxLine = verdicts.MaxLine
)

// reading returns what renders the verdicts of the view.
func (v *view) reading() verdicts.View { return verdicts.View{Snap: v.snap, Stalled: v.stalled} }

// verdictOf serves /api/v1/verdict/STATE, in JSON unless Accept begins with text. The
// status code is 200 whatever the verdict, so that a client can distinguish a failing
// state from a failing request.
func (s *Server) verdictOf(w http.ResponseWriter, r *http.Request, v *view, name string) {
	w = s.counted(w, v, pathVerdict+"STATE")
	p, ok := v.probes[name]
	switch {
	case !ok:
		s.notFound(w, v)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		reply.NotAllowed(w, r, reply.ReadMethods()...)
	default:
		found := v.reading().At(p.state, s.opts.Now())
		found.State = name // the alias, if the request used one
		if strings.HasPrefix(r.Header.Get("Accept"), execprobe.ContentType) {
			reply.Send(w, http.StatusOK, execprobe.ContentType+"; charset=utf-8", found.Text())
			return
		}
		reply.Send(w, http.StatusOK, "application/json", reply.Encode(found))
	}
}
