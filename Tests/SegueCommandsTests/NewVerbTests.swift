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

    @Test("app creates a package for which Segue is the folder that this program was built from")
    func app() async throws {
        try await SegueCommandLine.inScratch { segue in
            let rehearsal = try await segue("new", "app", "tea-time", "--dry-run")
            #expect(rehearsal.status == 0 && rehearsal.lines.first == "made tea-time/.gitignore")
            #expect(try FileManager.default.contentsOfDirectory(atPath: segue.directory).isEmpty)

            let made = try await segue("new", "app", "tea-time")
            #expect(made.status == 0 && made.lines == rehearsal.lines && made.error.isEmpty)
            let manifest = try String(contentsOfFile: "\(segue.directory)/tea-time/Package.swift", encoding: .utf8)
            let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL.path
            #expect(manifest.contains(#".package(name: "segue", path: "\#(root)")"#))

            var app = segue
            app.workingDirectory = "\(segue.directory)/tea-time"
            #expect(try await app("config", "--services").lines.contains("tea-time-service"))
            #expect(try await app("flow", "check", "--strict", "flows/ios.yaml", "flows/mac.yaml").output.isEmpty)
            #expect(try await app("new", "screen", "receipt", "--on", "command.ReceiptWanted").status == 0)
            #expect(try await app("flow", "check", "--strict", "flows/ios.yaml", "flows/mac.yaml").output.isEmpty)
        }
    }

    @Test("app refuses a name, a folder and a place of Segue in one line, and writes nothing")
    func refusedApp() async throws {
        try await SegueCommandLine.inScratch { segue in
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/taken", withIntermediateDirectories: false)
            try segue.write("", to: "taken/notes")
            let long = String(repeating: "a", count: 240)
            for (arguments, status) in [
                (["Tea"], 64), (["navigation"], 64), (["tea", "--segue", "https://example.com/fork"], 64),
                (["taken"], 1),
                (["taken", "--dry-run"], 1), (["tea", "--segue", "taken"], 66), ([long], 74),
            ] {
                let result = try await segue.run(["new", "app"] + arguments)
                #expect(result.status == status && result.errorLines.count == 1, "\(arguments) \(result.error)")
                #expect(result.output.isEmpty)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: segue.directory) == ["taken"])
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
