import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Testing

@Suite("What a shell completes", .timeLimit(.minutes(2)))
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
            #expect(try await bash(segue, "segue", "send", "command.Buy", "") == [#"{"item":""}"#])
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
                #expect(try await bash(segue, "segue", "send", "command.Buy", "") == [#"{"item":""}"#])
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

    @Test("is typed by the Tab key, as one word of just what was meant", arguments: CompletingShell.allCases)
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
