package server

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server/reply"
	"github.com/vitals-health/vitals/internal/text"
)

// maxVerdictText bounds the lines of a verdict. With its first line, of at most maxLine
// bytes, an exec probe then prints less than the 4096 bytes that Docker keeps.
const maxVerdictText = 3 << 10

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
		verdict := v.verdictAt(p.state, s.opts.Now())
		verdict.State = name // the alias, if the request used one
		if strings.HasPrefix(r.Header.Get("Accept"), execprobe.ContentType) {
			reply.Send(w, http.StatusOK, execprobe.ContentType+"; charset=utf-8", verdict.Text())
			return
		}
		reply.Send(w, http.StatusOK, "application/json", reply.Encode(verdict))
	}
}

// StateVerdict returns the verdict of a snapshot's state at now, and false if there is
// no state of that name.
func StateVerdict(snap *evaluator.Snapshot, name string, now time.Time) (execprobe.Verdict, bool) {
	st, ok := snap.State(name, now)
	if !ok {
		return execprobe.Verdict{}, false
	}
	return (&view{snap: snap, stalled: snap.Stalled(now)}).verdictAt(st, now), true
}

func (v *view) verdictAt(st evaluator.State, now time.Time) execprobe.Verdict {
	out := execprobe.Verdict{
		State: st.Name, Verdict: st.Verdict.String(), Since: utc(st.Since), Reason: st.Reason,
		Stalled: v.stale(st), AgeSeconds: now.Sub(v.snap.At).Seconds(), Generation: v.snap.Generation,
		Lines: []string{}, Rules: len(st.Rules),
	}
	for _, i := range st.Rules {
		switch v.snap.Rules[i].Status {
		case evaluator.Failing:
			out.Failing++
		case evaluator.Unknown:
			out.Unknown++
		}
	}
	deciding, _ := v.deciding(st, nil)
	if st.Verdict == evaluator.Warn {
		deciding = st.Deciding
	}
	if len(deciding) > 0 {
		first := &v.snap.Rules[deciding[0]]
		out.Rule, out.Status, out.ExitCode = first.Name, first.Status.String(), first.ExitCode
		if first.Observed != nil {
			out.Value, out.Range = formatValue(*first.Observed), rangeOf(first.Limit)
		}
	}
	switch st.Verdict {
	case evaluator.Fail:
		out.Lines = failingLines(v, st, nil)
	case evaluator.Warn:
		for _, i := range st.Deciding {
			out.Lines = append(out.Lines, text.Line(RuleText(&v.snap.Rules[i]), maxLine))
		}
	}
	out.Lines = boundedLines(out.Lines, maxVerdictText)
	if st.Verdict != evaluator.Fail {
		out.Pending = v.pending(st, now)
		out.Notes = append(v.silenced(st), v.notes(out.Lines)...)
		if v.stalled {
			out.Notes = slices.Insert(out.Notes, 0, fmt.Sprintf("%s: the verdict is %.0f s old", evaluator.ReasonStalled, out.AgeSeconds))
		}
	}
	return out
}

// rangeOf returns the range in which a comparison holds in the notation of the
// Monitoring Plugins: outside of START:END, or inside with a leading @; ~ is negative
// infinity. Source: the Monitoring Plugins Development Guidelines, "Threshold and Ranges".
func rangeOf(limit *evaluator.Limit) string {
	if limit == nil {
		return ""
	}
	v := strconv.FormatFloat(limit.Value, 'f', -1, 64)
	const maxDigits = 24
	if math.IsInf(limit.Value, 0) || len(v) > maxDigits {
		return ""
	}
	return map[string]string{
		">": "~:" + v, "<": v + ":", ">=": "@" + v + ":", "<=": "@~:" + v, "==": "@" + v + ":" + v, "!=": v + ":" + v,
	}[limit.Op]
}

// notes returns the collectors' findings without those that the lines contain, and no more
// than fit into the first line of an exec probe.
func (v *view) notes(lines []string) []string {
	var notes []string
	size, shown := 0, strings.Join(lines, "\n")
	for _, c := range v.snap.Collectors {
		finding := c.Finding()
		if finding == "" || strings.Contains(shown, finding) {
			continue
		}
		if size > maxLine {
			break
		}
		note := text.Line(c.Name+": "+finding, maxLine)
		notes, size = append(notes, note), size+len(note)
	}
	return notes
}
