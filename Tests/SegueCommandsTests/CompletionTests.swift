import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Testing

@Suite("What a shell completes", .timeLimit(.minutes(1)))
struct CompletionTests {
    /// Has bash complete a line, as the key for it does.
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

    @Test("in bash: verbs, flags, and the services of the compose file")
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

    @Test("in bash: types of messages, documents, queries and fields, by the project's contract")
    func messages() async throws {
        try await SegueCommandLine.inScratch { segue in
            try ContractShop.write(segue)
            try FileManager.default.createDirectory(
                atPath: segue.directory + "/config", withIntermediateDirectories: false)
            try await segue("contract", "export", "-o", "config/contract.json")
            #expect(try await bash(segue, "segue", "send", "command.B") == ["command.Buy"])
            #expect(try await bash(segue, "segue", "send", "--await", "event.S") == ["event.Sold"])
            #expect(try await bash(segue, "segue", "ask", "P") == ["Price"])
            #expect(try await bash(segue, "segue", "send", "command.Buy", "") == [#"'{"item":""}'"#])
            #expect(
                try await bash(segue, "segue", "send", "command.Buy", "--field", "data.") == ["data.item", "data.size"])
        }
    }

    @Test("in bash: what those tell who are on the bus, but nothing that a shell would run")
    func live() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                let names = ["item", "$(touch harm)", "`touch harm`", "a'b"]
                let fields = JSONSchema.object(
                    Dictionary(uniqueKeysWithValues: names.map { ($0, JSONSchema.Property(.string)) }))
                try await bus.publish(ContractShop.store(fields))
                #expect(try await bash(segue, "segue", "send", "command.B") == ["command.Buy"])
                #expect(try await bash(segue, "segue", "send", "command.Buy", "") == [#"'{"item":""}'"#])
                #expect(try await bash(segue, "segue", "send", "command.Buy", "--field", "d") == ["data.item"])
                #expect(!FileManager.default.fileExists(atPath: segue.directory + "/harm"))
            }
        }
    }

    @Test("offers nothing, and says nothing, where there is nothing to offer")
    func nothing() async throws {
        try await SegueCommandLine.inScratch { segue in
            #expect(try await bash(segue, "segue", "send", "command.Pl").isEmpty)
            #expect(try await bash(segue, "segue", "logs", "").isEmpty)
            try segue.write("services: [")
            #expect(try await bash(segue, "segue", "logs", "").isEmpty)
        }
    }

    private static let shells = ["zsh", "fish"].filter {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    @Test(
        "has a script for zsh and fish that these can read", .enabled(if: !shells.isEmpty, "neither is installed"),
        arguments: shells)
    func otherShells(shell: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("name: demo\nservices: {music: {command: x}}")
            let read = try await segue.shell("segue --generate-completion-script \(shell) > script; \(shell) -n script")
            #expect(read.status == 0 && read.error.isEmpty, "\(read.error)")
            if shell == "fish" {
                let offered = try await segue.shell("fish -c \"source script; complete -C 'segue logs mu'\"")
                #expect(offered.lines == ["music"])
            }
        }
    }
}
