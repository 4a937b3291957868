{
  description = "Books of LLM memory: what fits where, how fast, and what to change";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      archives = {
        x86_64-linux = { url = "{{.URL "linux_amd64"}}"; sha256 = "{{.Sum "linux_amd64"}}"; };
        aarch64-linux = { url = "{{.URL "linux_arm64"}}"; sha256 = "{{.Sum "linux_arm64"}}"; };
        x86_64-darwin = { url = "{{.URL "darwin_amd64"}}"; sha256 = "{{.Sum "darwin_amd64"}}"; };
        aarch64-darwin = { url = "{{.URL "darwin_arm64"}}"; sha256 = "{{.Sum "darwin_arm64"}}"; };
      };
    in {
      packages = builtins.mapAttrs (system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.stdenvNoCC.mkDerivation {
            pname = "memwall";
            version = "{{.Version}}";
            src = pkgs.fetchurl archive;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            installPhase = ''
              install -Dm755 memwall $out/bin/memwall
              installManPage man/*.1
              installShellCompletion --bash completions/bash/memwall --fish completions/fish/memwall.fish --zsh completions/zsh/_memwall
            '';
            meta = { homepage = "{{.Home}}"; mainProgram = "memwall"; license = pkgs.lib.licenses.asl20; };
          };
        }) archives;
    };
}
