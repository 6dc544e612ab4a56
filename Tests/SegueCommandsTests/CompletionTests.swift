import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Support
import Testing

@Suite("Completion in a shell", .timeLimit(.minutes(2)))
struct CompletionTests {
    /// The completions that Bash offers for a line when the user presses Tab.
    private func bash(_ segue: SegueCommandLine, _ words: String...) async throws -> [String] {
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let result = try await segue.shell(
            """
            source <(segue --generate-completion-script bash)
            COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            _segue segue "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(result.error.isEmpty)
        return result.lines
    }

    @Test("bash completes verbs, flags, and the services of the compose file")
    func services() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                "name: demo\nservices: {music: {command: x}, museum: {command: x}, auth: {command: '${MISSING:-y}'}}")
            #expect(try await bash(segue, "segue", "contr") == ["contract"])
            #expect(try await bash(segue, "segue", "contract", "ch") == ["check"])
            #expect(try await bash(segue, "segue", "send", "--no") == ["--no-check"])
            #expect(try await bash(segue, "segue", "logs", "mu") == ["museum", "music"])
            #expect(try await bash(segue, "segue", "logs", "music", "a") == ["auth"])
            try segue.write("name: other\nservices: {broker: {command: x}}", to: "other.yaml")
            #expect(try await bash(segue, "segue", "logs", "x").isEmpty)
        }
    }

    @Test("bash completes types of messages, documents, queries and fields, from the project's contract")
    func messages() async throws {
        try await SegueCommandLine.inScratch { segue in
            try ContractShop.write(segue)
            try FileManager.default.createDirectory(
                atPath: segue.directory + "/config", withIntermediateDirectories: false)
            try await segue("contract", "export", "-o", "config/contract.json")
            #expect(try await bash(segue, "segue", "send", "command.B") == ["command.Buy"])
            #expect(try await bash(segue, "segue", "send", "--await", "event.S") == ["event.Sold"])
            #expect(try await bash(segue, "segue", "ask", "P") == ["Price"])
            #expect(try await bash(segue, "segue", "send", "command.Buy", "") == [#"{"item":""}"#])
            #expect(
                try await bash(segue, "segue", "send", "command.Buy", "--field", "data.") == ["data.item", "data.size"])
        }
    }

    @Test("bash completes names from the processes on the bus, but nothing that a shell would run")
    func live() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                let names = ["item", "$(touch harm)", "`touch harm`", "a'b"]
                let fields = JSONSchema.object(
                    Dictionary(uniqueKeysWithValues: names.map { ($0, JSONSchema.Property(.string)) }))
                try await bus.publish(ContractShop.store(fields))
                #expect(try await bash(segue, "segue", "send", "command.B") == ["command.Buy"])
                #expect(try await bash(segue, "segue", "send", "command.Buy", "") == [#"{"item":""}"#])
                #expect(try await bash(segue, "segue", "send", "command.Buy", "--field", "d") == ["data.item"])
                #expect(!FileManager.default.fileExists(atPath: segue.directory + "/harm"))
            }
        }
    }

    @Test("The completion is empty and silent if there is nothing to offer")
    func nothing() async throws {
        try await SegueCommandLine.inScratch { segue in
            #expect(try await bash(segue, "segue", "send", "command.Pl").isEmpty)
            #expect(try await bash(segue, "segue", "logs", "").isEmpty)
            try segue.write("services: [")
            #expect(try await bash(segue, "segue", "logs", "").isEmpty)
        }
    }

    @Test("The Tab key inserts a completion as one word", arguments: CompletingShell.allCases)
    func typed(shell: CompletingShell) async throws {
        try await SegueCommandLine.inScratch { segue in
            try ContractShop.write(segue)
            try FileManager.default.createDirectory(
                atPath: segue.directory + "/config", withIntermediateDirectories: false)
            try await segue("contract", "export", "-o", "config/contract.json")
            let ran = try await shell.arguments(
                of: [
                    "segue contr\t", "segue logs st\t", "segue logs store da\t", "segue send command.B\t",
                    "segue send command.Buy \t", "segue ask Pr\t", "segue send --await event.So\t",
                    "segue send command.Buy --field data.i\t",
                ], segue)
            #expect(
                ran == [
                    "<contract>", "<logs><store>", "<logs><store><database>", "<send><command.Buy>",
                    #"<send><command.Buy><{"item":""}>"#, "<ask><Price>", "<send><--await><event.Sold>",
                    "<send><command.Buy><--field><data.item>",
                ])
        }
    }
}

/// An interactive shell in a terminal, in which the test completes lines with the Tab key.
enum CompletingShell: String, CaseIterable {
    case bash, zsh, fish

    /// Types lines into the shell.
    /// - Parameter lines: the lines; `\t` is the Tab key.
    /// - Returns: the arguments of each call of `segue`, such as `<logs><music>`.
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

    /// A start file that loads the completion script as docs/running.md describes, and replaces `segue` with a
    /// function that writes its arguments to a file.
    private var setUp: String {
        switch self {
        case .bash: "source <(segue --generate-completion-script bash)\n\(Self.writingDown)"
        case .zsh:
            """
            autoload -Uz compinit && compinit
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
