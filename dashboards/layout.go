package dashboards

// columns is the width of Grafana's grid.
const columns = 24

// section is a heading with lines of panels below it. If the title is empty, there is no
// heading.
type section struct {
	title string
	lines []line
}

// line has panels side by side. Those without a width share the rest of the columns.
type line struct {
	height int
	panels []panel
}

// layout places panels on the grid, from top to bottom, and numbers them.
func layout(sections []section) []panel {
	var all []panel
	y := 0
	place := func(p panel, g grid) {
		p.ID = len(all) + 1
		p.GridPos = g
		all = append(all, p)
	}
	for _, s := range sections {
		if s.title != "" {
			place(heading(s.title), grid{H: 1, W: columns, Y: y})
			y++
		}
		for _, l := range s.lines {
			x := 0
			for i, w := range l.widths() {
				place(l.panels[i], grid{H: l.height, W: w, X: x, Y: y})
				x += w
			}
			y += l.height
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

func heading(title string) panel {
	collapsed := false
	return panel{Type: "row", Title: title, Collapsed: &collapsed, Panels: &[]panel{}}
}
