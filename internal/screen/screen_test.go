package screen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestModel: what is drawn follows readings, keys and the size of the window, and a key ends it.
func TestModel(t *testing.T) {
	n, keys := 0, ""
	m := &model{columns: 80, Show: Show{
		Every: time.Second, Tick: func() { n++ },
		Key:  func(k string) bool { keys += k; return k == "q" },
		Draw: func(columns, rows int) string { return fmt.Sprint(n, " ", columns, " ", rows, " ", keys) },
	}}
	if msg := m.Init()(); n != 1 || m.read() != nil {
		t.Errorf("%v after %d", msg, n)
	}
	if _, next := m.Update(ticked{}); next == nil || m.View().Content != "1 80 0 " {
		t.Error(m.View().Content)
	}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Update(tea.KeyPressMsg(tea.Key{Code: 'e', Text: "e"}))
	if m.View().Content != "1 120 40 e" || !m.View().AltScreen {
		t.Error(m.View().Content)
	}
	if _, again := m.Update(due{}); again == nil {
		t.Error("no reading when it is due")
	}
	_, quit := m.Update(tea.KeyPressMsg(tea.Key{Code: 'q', Text: "q"}))
	if _, ok := quit().(tea.QuitMsg); !ok {
		t.Error("q does not quit")
	}
	_, quit = m.Update(tea.KeyPressMsg(tea.Key{Code: 'c', Mod: tea.ModCtrl}))
	if _, ok := quit().(tea.QuitMsg); !ok {
		t.Error("Ctrl-C does not quit")
	}
}

// TestRun: a whole screen, which draws and ends with q, and with its context.
func TestRun(t *testing.T) {
	show := Show{Every: time.Hour, Tick: func() {}, Key: func(k string) bool { return k == "q" },
		Draw: func(int, int) string { return "what is seen" }}
	var out bytes.Buffer
	in, keys := io.Pipe()
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, _ = keys.Write([]byte("q"))
	}()
	if err := Run(t.Context(), in, &out, []string{"TERM=xterm"}, show); err != nil || !strings.Contains(out.String(), "what is seen") {
		t.Errorf("%v: %q", err, out.String())
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	idle, _ := io.Pipe()
	if err := Run(ctx, idle, io.Discard, nil, show); err != nil {
		t.Error(err)
	}
}
