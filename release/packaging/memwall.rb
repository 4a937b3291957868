class Memwall < Formula
  desc "Books of LLM memory: what fits where, how fast, and what to change"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.URL "darwin_arm64"}}"
      sha256 "{{.Sum "darwin_arm64"}}"
    end
    on_intel do
      url "{{.URL "darwin_amd64"}}"
      sha256 "{{.Sum "darwin_amd64"}}"
    end
  end
  on_linux do
    on_arm do
      url "{{.URL "linux_arm64"}}"
      sha256 "{{.Sum "linux_arm64"}}"
    end
    on_intel do
      url "{{.URL "linux_amd64"}}"
      sha256 "{{.Sum "linux_amd64"}}"
    end
  end

  def install
    bin.install "memwall"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bash/memwall"
    fish_completion.install "completions/fish/memwall.fish"
    zsh_completion.install "completions/zsh/_memwall"
  end

  test do
    assert_match "does not fit", shell_output("#{bin}/memwall fit llama-3.1-405b --on rtx-4090")
  end
end
