import CommandLineTestSupport
import Foundation
import Testing

@Suite("'segue new'")
struct NewVerbTests {
    /// Package.swift with helper functions, and lines that end with CRLF. No name of a target is in the text.
    private static let manifest = """
        let names = ["Cof" + "fee"]
        func tests(of name: String) -> Target { .testTarget(name: name + "Tests") }
        let package = Package(name: "coffee", targets: names.map { .target(name: $0) } + names.map(tests))

        """.replacing("\n", with: "\r\n")

    private static let flow = """
        name: coffee
        version: 1
        platform: ios
        start: menu
        screens:
          menu: { title: Menu, sends: [command.CoffeeOrdered] }
        transitions:
          - on: command.CoffeeOrdered
            do: [popToRoot]

        """.replacing("\n", with: "\r\n")

    /// Runs `body` in a package whose existing files must not change.
    private func inPackage(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await SegueCommandLine.inScratch { segue in
            for folder in ["Sources/Coffee/Vocabulary", "Tests/CoffeeTests"] {
                try FileManager.default.createDirectory(
                    atPath: "\(segue.directory)/\(folder)", withIntermediateDirectories: true)
            }
            let files = ["Package.swift": Self.manifest, "flow.yaml": Self.flow, "compose.yaml": "services: {}\r\n"]
            for (path, text) in files { try segue.write(text, to: path) }
            try await body(segue)
            for (path, text) in files {
                let data = try Data(contentsOf: URL(filePath: "\(segue.directory)/\(path)"))
                #expect(data == Data(text.utf8), "\(path)")
            }
        }
    }

    @Test("'segue new app' creates a package that uses the Segue folder of this program")
    func app() async throws {
        try await SegueCommandLine.inScratch { segue in
            let rehearsal = try await segue("new", "app", "tea-time", "--dry-run")
            #expect(rehearsal.status == 0 && rehearsal.lines.first == "would make tea-time/.gitignore")
            #expect(try FileManager.default.contentsOfDirectory(atPath: segue.directory).isEmpty)

            let made = try await segue("new", "app", "tea-time")
            #expect(made.status == 0 && made.error.isEmpty)
            #expect(made.lines == rehearsal.lines.map { $0.replacing("would make ", with: "made ") })
            let manifest = try String(contentsOfFile: "\(segue.directory)/tea-time/Package.swift", encoding: .utf8)
            let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL.path
            #expect(manifest.contains(#".package(name: "segue", path: "\#(root)")"#))

            var app = segue
            app.workingDirectory = "\(segue.directory)/tea-time"
            #expect(try await app("config", "--services").lines.contains("tea-time-service"))
            let check = try await app("flow", "check", "--strict", "flows/ios.yaml", "flows/mac.yaml")
            #expect(check.status == 0 && check.lines.count == 1, "\(check.output)")
            #expect(check.output.hasPrefix("no findings in flows/ios.yaml, flows/mac.yaml; "))
            #expect(try await app("new", "screen", "receipt", "--on", "command.ReceiptWanted").status == 0)
        }
    }

    @Test("'segue new app' refuses an invalid name, folder or Segue folder in one line, and writes nothing")
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

    @Test("'segue new message', 'screen' and 'service' write new files, and print the lines for existing ones")
    func new() async throws {
        try await inPackage { segue in
            let message = ["new", "message", "command.CoffeePaid", "cents:Int", "at:Date"]
            let rehearsal = try await segue.run(message + ["--dry-run"])
            let made = try await segue.run(message)
            #expect(made.status == 0 && made.error.isEmpty)
            #expect(made.lines == rehearsal.lines.map { $0.replacing("would make ", with: "made ") })
            #expect(
                made.lines == [
                    "made Sources/Coffee/Vocabulary/Command+CoffeePaid.swift",
                    "made Tests/CoffeeTests/CoffeePaidTests.swift",
                ])

            let screen = try await segue("new", "screen", "loyalty", "--on", "command.CoffeePaid")
            #expect(screen.status == 0 && screen.error.isEmpty)
            #expect(
                screen.output == """
                    made Tests/CoffeeTests/LoyaltyScreenTests.swift

                    In flow.yaml, replace 'sends' of the screen 'menu' by:
                        sends: [command.CoffeeOrdered, command.CoffeePaid]

                    Add to flow.yaml, in 'screens':
                      loyalty:
                        title: Loyalty

                    Add to flow.yaml, in 'transitions':
                      - on: command.CoffeePaid
                        when: { top: menu }
                        do: [{ push: loyalty }]

                    """)

            let service = try await segue(
                "new", "service", "roaster", "--on", "command.CoffeePaid", "cents:Int", "--sends", "event.BeansRoasted")
            #expect(service.status == 0 && service.error.isEmpty)
            #expect(
                service.lines.prefix(5) == [
                    "made Sources/Coffee/Roaster.swift", "made Sources/roaster/RoasterCommand.swift",
                    "made Tests/CoffeeTests/RoasterTests.swift", "Unless event.BeansRoasted is declared, run:",
                    "segue new message event.BeansRoasted",
                ])
            #expect(service.lines.contains("Add to compose.yaml, in 'services':"))
        }
    }

    @Test("'segue new message' reports the file that is in its way in one line")
    func refused() async throws {
        try await inPackage { segue in
            #expect(try await segue("new", "message", "command.CoffeeOrdered").status == 0)
            let taken = try await segue("new", "message", "command.CoffeeOrdered")
            #expect(taken.status == 1 && taken.output.isEmpty)
            let file = "Sources/Coffee/Vocabulary/Command+CoffeeOrdered.swift"
            #expect(taken.error == "segue: \(file) exists already; choose another name, or remove the file\n")
        }
    }

    @Test("'segue new' ends with status 64 for an invalid argument, and 66 for an unreadable file")
    func statuses() async throws {
        try await inPackage { segue in
            for arguments in [
                ["message", "Coffee"], ["message", "command.A", "cups:Data"], ["message", "event.A", "--in", "/tmp"],
                ["screen", "Cup", "--on", "command.A"], ["service", "a", "--on", "query.A", "--sends", "event.B"],
            ] {
                let result = try await segue.run(["new"] + arguments)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments) \(result.error)")
            }
            let noFlow = try await segue("new", "screen", "cup", "--on", "command.A", "--flow", "none.yaml")
            #expect(noFlow.status == 66 && noFlow.errorLines.count == 1)
        }
        try await SegueCommandLine.inScratch { segue in
            let noPackage = try await segue("new", "message", "command.A")
            #expect(noPackage.status == 66 && noPackage.errorLines.count == 1)
        }
    }
}
