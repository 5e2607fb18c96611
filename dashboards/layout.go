package dashboards

// columns is the width of Grafana's grid.
const columns = 24

// section is a heading with lines of panels below it. If the title is empty, there is no
// heading.
type section struct {
	title string
	lines []line
	// optional sections are of parts that a configuration may not have. They are collapsed.
	optional bool
}

// line has panels side by side. Those without a width share the rest of the columns.
type line struct {
	height int
	panels []panel
}

// layout places panels on the grid, from top to bottom, and numbers them. The panels of a
// collapsed section belong to its heading and take no room below it.
func layout(sections []section) []panel {
	var all []panel
	y, id := 0, 0
	place := func(to *[]panel, p panel, g grid) {
		id++
		p.ID, p.GridPos = id, g
		*to = append(*to, p.fit(g.W))
	}
	for _, s := range sections {
		if s.title != "" {
			place(&all, heading(s), grid{H: 1, W: columns, Y: y})
			y++
		}
		to, top := &all, y
		if s.optional {
			to = all[len(all)-1].Panels
		}
		for _, l := range s.lines {
			x := 0
			for i, w := range l.widths() {
				place(to, l.panels[i], grid{H: l.height, W: w, X: x, Y: y})
				x += w
			}
			y += l.height
		}
		if s.optional {
			y = top
		}
	}
	return all
}

// widths returns the widths of the panels: their own, or an equal share of the rest.
func (l line) widths() []int {
	left, without := columns, 0
	for _, p := range l.panels {
		left -= p.GridPos.W
		if p.GridPos.W == 0 {
			without++
		}
	}
	widths := make([]int, len(l.panels))
	for i, p := range l.panels {
		widths[i] = p.GridPos.W
		if p.GridPos.W == 0 {
			widths[i] = left / without
			left -= widths[i]
			without--
		}
	}
	return widths
}

func heading(s section) panel {
	return panel{Type: "row", Title: s.title, Collapsed: &s.optional, Panels: &[]panel{}}
}
