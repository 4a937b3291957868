// Package screen is a live terminal: it displays changing text and delivers key presses. It does not interpret the
// text, and is the only package that depends on the terminal library.
package screen

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Show is what is shown: Draw gives the text for a width and a height, Key takes a key and says whether it was the last,
// Tick is called once in Every, outside of the drawing.
type Show struct {
	Draw  func(columns, rows int) string
	Key   func(key string) (quit bool)
	Tick  func()
	Every time.Duration
	// Copied is asked after each key for what is to go to the clipboard, by OSC 52; "" and nil are nothing.
	Copied func() string
}

// frames a second: what changes is a reading in a second, and a key.
const frames = 10

// columns and rows of a screen that does not say how large it is.
const columns, rows = 80, 24

// Run shows until a key ends it, or ctx does.
func Run(ctx context.Context, in io.Reader, out io.Writer, env []string, s Show) error {
	p := tea.NewProgram(&model{Show: s, columns: columns, rows: rows}, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(env), tea.WithFPS(frames), tea.WithWindowSize(columns, rows))
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// model is the library's side of a Show.
type model struct {
	Show
	columns, rows int
	reading       bool
	text          string
}

// ticked is a reading that is done, due the time for another.
type (
	ticked struct{}
	due    struct{}
)

// Init reads for the first time.
func (m *model) Init() tea.Cmd { return m.read() }

// read reads away from the drawing, once at a time.
func (m *model) read() tea.Cmd {
	if m.reading {
		return nil
	}
	m.reading = true
	return func() tea.Msg { m.Tick(); return ticked{} }
}

// Update takes what happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if key := msg.String(); key == "ctrl+c" || m.Key(key) {
			return m, tea.Quit
		}
		if m.Copied != nil {
			if text := m.Copied(); text != "" {
				m.redraw()
				return m, tea.SetClipboard(text)
			}
		}
	case due:
		next := m.read()
		return m, next
	case ticked:
		m.reading = false
		m.redraw()
		return m, tea.Tick(m.Every, func(time.Time) tea.Msg { return due{} })
	default:
		return m, nil
	}
	m.redraw()
	return m, nil
}

func (m *model) redraw() { m.text = m.Draw(m.columns, m.rows) }

// View is the text as it was last drawn.
func (m *model) View() tea.View {
	v := tea.NewView(m.text)
	v.AltScreen = true
	return v
}
