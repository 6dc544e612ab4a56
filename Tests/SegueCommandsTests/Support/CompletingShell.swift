import CommandLineTestSupport
import Foundation
import Testing

/// A shell at a terminal, in which a person completes lines with the Tab key.
enum CompletingShell: String, CaseIterable {
    case bash, zsh, fish

    /// - Parameter lines: what is typed; `\t` is the Tab key.
    /// - Returns: for each line that runs `segue`, its arguments as the shell hands them over, such as `<logs><music>`.
    func arguments(of lines: [String], _ segue: SegueCommandLine) async throws -> [String] {
        try segue.write(setUp, to: setUpFile)
        try segue.write((lines + ["exit\n"]).joined(separator: "\n"), to: "typed")
        let result = try await segue.shell(
            "export HOME=$PWD ZDOTDIR=$PWD TERM=xterm; exec script -qec '\(start)' /dev/null <typed")
        let ran = try? String(contentsOfFile: segue.directory + "/ran", encoding: .utf8)
        return try #require(ran, "\(result.output)\(result.error)").split(separator: "\n").map(String.init)
    }

    private var start: String {
        switch self {
        case .bash: "bash --rcfile \(setUpFile) -i"
        case .zsh: "zsh -i"
        case .fish: "fish --no-config --init-command \"source \(setUpFile)\""
        }
    }

    private var setUpFile: String { self == .zsh ? ".zshrc" : "set-up" }

    /// Takes the script as docs/contracts.md says, and has `segue` write down what it is given.
    private var setUp: String {
        switch self {
        case .bash: "source <(segue --generate-completion-script bash)\n\(Self.writingDown)"
        case .zsh:
            """
            autoload -Uz compinit; compinit -u -D
            source <(segue --generate-completion-script zsh)
            \(Self.writingDown)
            """
        case .fish:
            """
            segue --generate-completion-script fish | source
            function segue; printf '<%s>' $argv >>ran; echo >>ran; end
            """
        }
    }

    private static let writingDown = """
        segue() {
            if [[ $1 == ---completion ]]; then command segue "$@"; else { printf '<%s>' "$@"; echo; } >>ran; fi
        }
        """
}
