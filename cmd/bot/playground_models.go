package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/playground"
)

const (
	// ollamaAddr is where Ollama listens unless it was told otherwise.
	ollamaAddr = "http://127.0.0.1:11434"
	// ollamaWithin is how long the start waits for an Ollama that may not be there; a free port refuses at once.
	ollamaWithin = 300 * time.Millisecond
	// listWithin is how long a server named by OPENAI_BASE_URL may take to list its models.
	listWithin = 3 * time.Second
	// modelsOffered bounds the list on the page, listBytes the answer that it is read from.
	modelsOffered = 20
	listBytes     = 1 << 20
)

// choices are the models that a playground offers, the first one in use, and how the bot is set up for each.
type choices struct {
	models []playground.Model
	setup  map[string]config.Config
	// remark is for the person at the terminal: why the first one is not what the environment may have meant.
	remark string
}

func (c *choices) add(m playground.Model, setup config.Config) {
	if _, known := c.setup[m.ID]; known {
		return
	}
	c.models, c.setup[m.ID] = append(c.models, m), setup
}

// chooseModels finds what can answer: the model that the environment names, the built-in one, and what an Ollama on this
// machine has. That one is offered and never taken. A server without a MODEL is asked which it has, and the first is used;
// a key without a MODEL means the vendor's usual one.
func chooseModels(ctx context.Context, cfg config.Config, ollama string) choices {
	c := choices{setup: map[string]config.Config{}}
	env := cfg.Model
	with := func(name string) config.Config {
		cfg := cfg
		cfg.Model.Name, cfg.Model.Fallbacks = name, ""
		return cfg
	}
	if env.Name != "" && env.Name != config.RehearsalModel {
		c.add(playground.Model{ID: "env", Name: env.Name, From: "set by MODEL"}, cfg)
	}
	for _, v := range cfg.Services.Vendors() {
		switch {
		case env.Name != "":
		case v.BaseURL != "":
			names, err := listModels(ctx, strings.TrimSuffix(v.BaseURL, "/")+"/models", v.Key.Reveal(), listWithin)
			if err != nil || len(names) == 0 {
				c.remark = v.BaseVariable + " is set, but it lists no model; set MODEL to use it."
			}
			for _, name := range names {
				written := v.Name + ":" + name
				if v.Name == config.OpenAI { // a server of one's own takes names as they are
					written = name
				}
				c.add(playground.Model{ID: "env:" + written, Name: name, From: "at " + v.BaseVariable}, with(written))
			}
		case !v.Key.IsZero() && v.Usual != "":
			written := v.Name + ":" + v.Usual
			c.add(playground.Model{ID: "env:" + written, Name: written, From: v.KeyVariable + " is set; MODEL chooses another"}, with(written))
		case !v.Key.IsZero():
			c.remark = v.KeyVariable + " is set, but MODEL is not; set it to use that, such as MODEL=" + v.Name + ":NAME."
		}
	}
	c.add(playground.Model{ID: config.RehearsalModel, Name: config.RehearsalModel, From: "built in, offline", Offline: true},
		with(config.RehearsalModel))
	if ollama == "" {
		return c
	}
	names, _ := listModels(ctx, ollama+"/v1/models", "", ollamaWithin) // mostly there is none
	for _, name := range names {
		setup := with("ollama:" + name)
		setup.Services.OllamaURL = ollama + "/v1"
		c.add(playground.Model{ID: "ollama:" + name, Name: name, From: "Ollama on this machine"}, setup)
	}
	return c
}

// listModels asks an OpenAI-compatible server for the names of its models.
func listModels(ctx context.Context, address, key string, within time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for models: %w", err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	// Neither a proxy nor a redirect may carry the question, or the key, elsewhere.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking for models: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking for models: %s", resp.Status)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, listBytes)).Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the list of models: %w", err)
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" && len(names) < modelsOffered {
			names = append(names, m.ID)
		}
	}
	return names, nil
}

// ollamaBase checks the address of -ollama: only this machine is asked without being told to. Empty means not at all.
func ollamaBase(value string) (string, error) {
	if value == "off" || value == "" {
		return "", nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return "", errors.New("-ollama takes off or an address such as " + ollamaAddr)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("-ollama %s is not on this machine; set OPENAI_BASE_URL for a server elsewhere", value)
	}
	return "http://" + u.Host, nil
}
