package provider_test

import (
	"context"
	"fmt"

	"weir/agentcore"
	"weir/engine/provider"
)

// A program reads the user's file, finds the model that was asked for, and gives all models to its agent as one provider.
func ExampleConfig_Open() {
	config, err := provider.Parse("models.toml", []byte(`
default = "local/qwen3"

[provider.local]
kind     = "openai-chat"
base_url = "http://localhost:8080/v1"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	models := config.Open(provider.Options{})
	defer models.Close()
	model, err := models.Find("") // or what --model says
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := models.Authorize(context.Background(), model.Model); err != nil {
		fmt.Println(err)
		return
	}
	agent, err := agentcore.New(agentcore.Config{Provider: models, Model: model.Model})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.State().Model.ID, model.API)
	// Output: qwen3 openai-completions
}

// Without a key, the error says where the key was looked for.
func ExampleModels_Authorize() {
	config := provider.Config{Providers: []provider.Provider{
		{Name: "work", Kind: provider.KindAnthropic, Key: provider.KeySource{Env: "WORK_KEY_THAT_IS_NOT_SET"}},
	}}
	models := config.Open(provider.Options{})
	defer models.Close()
	fmt.Println(models.Authorize(context.Background(), agentcore.Model{ID: "m", Provider: "work"}))
	// Output: no key for [provider.work]: the environment variable WORK_KEY_THAT_IS_NOT_SET is not set (export WORK_KEY_THAT_IS_NOT_SET=…)
}
