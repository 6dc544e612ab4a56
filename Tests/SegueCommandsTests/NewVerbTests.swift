import CommandLineTestSupport
import Foundation
import Testing

@Suite("segue new")
struct NewVerbTests {
    private let page = """
        import Contracts
        import EventBus

        extension Command {
            /// A guest wants a coffee.
            struct CoffeeOrdered: CommandMessage {
                var kind: String
            }
        }

        """

    private func inPackage(_ body: (SegueCommandLine, _ page: String) async throws -> Void) async throws {
        try await SegueCommandLine.inScratch { segue in
            let folder = "Sources/Coffee/Vocabulary"
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/\(folder)", withIntermediateDirectories: true)
            try segue.write(#"targets: [.target(name: "Coffee")]"#, to: "Package.swift")
            try segue.write(page, to: "\(folder)/Commands.swift")
            try await body(segue, "\(folder)/Commands.swift")
        }
    }

    @Test("message adds to the page of its kind, or makes that, and tells so")
    func message() async throws {
        try await inPackage { segue, path in
            let rehearsal = try await segue("new", "message", "command.CoffeePaid", "cents:Int", "--dry-run")
            let note = "segue: no test was written: Package.swift has no target CoffeeTests"
            #expect(rehearsal.lines == ["changed \(path)"] && rehearsal.errorLines == [note])
            #expect(try String(contentsOfFile: "\(segue.directory)/\(path)", encoding: .utf8) == page)

            let added = try await segue("new", "message", "command.CoffeePaid", "cents:Int")
            #expect(added.status == 0 && added.lines == ["changed \(path)"])
            let text = try String(contentsOfFile: "\(segue.directory)/\(path)", encoding: .utf8)
            #expect(text.hasPrefix(page.dropLast(2)))
            #expect(text.contains("    struct CoffeePaid: CommandMessage {\n        var cents: Int\n"))

            let made = try await segue("new", "message", "query.Stock", "--answer", "cups:Int")
            #expect(made.lines == ["made Sources/Coffee/Vocabulary/Queries.swift"])
        }
    }

    @Test("message leaves what is there as it is, and says in one line what is in its way")
    func refused() async throws {
        try await inPackage { segue, path in
            let taken = try await segue("new", "message", "command.CoffeeOrdered")
            #expect(taken.status == 1 && taken.output.isEmpty)
            #expect(taken.error == "segue: \(path) declares Command.CoffeeOrdered already; choose another name\n")

            try segue.write(page + "/*", to: path)
            let unclear = try await segue("new", "message", "command.CoffeePaid")
            #expect(unclear.status == 1 && unclear.output.isEmpty)
            let problem = "\(path):10: a comment is not closed; correct it, or write the message by hand"
            #expect(unclear.error == "segue: \(problem)\n")
            #expect(try String(contentsOfFile: "\(segue.directory)/\(path)", encoding: .utf8) == page + "/*")
        }
    }

    @Test("ends with status 64 for an invalid argument, and 66 for a file that cannot be read")
    func statuses() async throws {
        try await inPackage { segue, path in
            for arguments in [
                ["message", "Coffee"], ["message", "command.A", "cups:Date"], ["message", "event.A", "--in", "/tmp"],
                ["screen", "Cup", "--on", "command.A"], ["service", "a", "--on", "query.A", "--sends", "event.B"],
            ] {
                let result = try await segue.run(["new"] + arguments)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments) \(result.error)")
            }
            let noFlow = try await segue("new", "screen", "cup", "--on", "command.A", "--flow", "none.yaml")
            #expect(noFlow.status == 66 && noFlow.errorLines.count == 1)
            try Data([0xFF, 0xFE]).write(to: URL(filePath: "\(segue.directory)/\(path)"))
            #expect(try await segue("new", "message", "command.A").status == 66)
        }
        try await SegueCommandLine.inScratch { segue in
            let noPackage = try await segue("new", "message", "command.A")
            #expect(noPackage.status == 66 && noPackage.errorLines.count == 1)
        }
    }
}
