import ArgumentParser
import CommandLineTestSupport
import Compose
import Foundation
import TestSupport
import Testing

@testable import SegueCommands

@Suite("docs/commands.md")
struct CommandsPageTests {
    @Test("The page lists the verbs of the help, with the first example and the exit statuses of each")
    func page() async throws {
        let page = GeneratedPage("docs/commands.md", try await CommandsPage().text)
        #expect(try page.isWritten(), "'make pages' writes it anew")
    }

    @Test("Each verb has a sentence and an example, and the parser accepts the example", arguments: Verb.all)
    func verb(verb: Verb) throws {
        #expect(verb.abstract.hasSuffix("."))
        let words = try #require(verb.example, "\(verb): the help has no example").split(separator: " ")
        #expect(words.starts(with: verb.path.split(separator: " ")) || verb.path == "segue record to")
        let arguments = verb.words
        #expect(throws: Never.self) { _ = try Segue.parseAsRoot(VerbPath(arguments, of: Segue.self).arguments) }
    }

    /// `demo` and `bench` run for a long time, so DemoTests and BenchVerbTests run them. `down` is last: it stops the
    /// stack that the others need.
    @Test("Each example ends with success, or with an exit status that its row lists", .timeLimit(.minutes(3)))
    func examples() async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            segue.environment["BROWSER"] = "true"
            try ExampleFolder.write(to: segue)
            let verbs = Verb.all.filter { !["segue demo", "segue bench", "segue down"].contains($0.path) }
            for verb in verbs + Verb.all.filter({ $0.path == "segue down" }) {
                let command =
                    [ExampleFolder.preparation[verb.path], verb.example].compactMap(\.self)
                    .joined(separator: " && ") + (ExampleFolder.ends[verb.path].map { " \($0)" } ?? "")
                let result = try await segue.shell(command)
                let statuses = [0] + verb.statuses
                #expect(statuses.contains(result.status), "\(command): \(result.status) \(result.error)")
            }
        }
    }

    @Test("A verb with an option of many verbs ends with the statuses that the page names for this option")
    func optionStatuses() async throws {
        try await SegueCommandLine.inScratch { segue in
            try ExampleFolder.write(to: segue)
            let wrong = [
                ("--bus <url>", "--bus ipc:///missing", 69), ("--bus <url>", "--bus nonsense", 78),
                ("-f, --file <file>", "-f missing.yaml", 66),
            ]
            try await withThrowingTaskGroup { group in
                // `bench` has the options of another program, `replay` reads the recording first, and the others use a
                // bus only with --live.
                let others = ["segue bench", "segue replay", "segue flow graph", "segue flow cover"]
                for verb in Verb.all where !others.contains(verb.path) {
                    group.addTask { [segue] in
                        let help = try await segue.shell("\(verb.path) --help").output
                        for (option, argument, status) in wrong where help.contains("\n  \(option) ") {
                            let command = verb.command(with: argument)
                            let result = try await segue.shell(command)
                            #expect(result.status == Int32(status), "\(command): \(result.error)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

/// A verb of `segue` that people use, and what its help says.
struct Verb: CustomTestStringConvertible {
    /// The words that select the verb, as in `segue flow check`.
    let path: String
    let abstract: String
    private let discussion: String

    static let all: [Verb] = groups.flatMap(\.verbs)
    /// The verbs, in the groups and in the order of `segue --help`.
    static let groups = Segue.configuration.groupedSubcommands.map { group in
        (name: group.name, verbs: group.subcommands.flatMap { verbs(of: $0, after: "segue") })
    }

    private static func verbs(of command: any ParsableCommand.Type, after path: String) -> [Verb] {
        let configuration = command.configuration
        guard configuration.shouldDisplay else { return [] }
        let path = "\(path) \(command._commandName)"
        guard configuration.subcommands.isEmpty else {
            return configuration.subcommands.flatMap { verbs(of: $0, after: path) }
        }
        return [Verb(path: path, abstract: configuration.abstract, discussion: configuration.discussion)]
    }

    var testDescription: String { path }

    /// The command of the discussion's first line. A comment may follow after two spaces.
    var example: String? {
        guard let line = discussion.split(separator: "\n").first, line.hasPrefix("segue ") else { return nil }
        return line.components(separatedBy: "  ").first
    }

    /// The words of the example after `segue`, as a shell divides them, without redirections.
    var words: [String] {
        let command = (example ?? "").prefix { !"|<>".contains($0) }
        return Array(ShellWords.split(String(command))?.dropFirst() ?? [])
    }

    /// The example with another argument after the words that select the verb.
    func command(with argument: String) -> String {
        let verb = path == "segue record to" ? "segue record" : path
        return "\(verb) \(argument)\((example ?? "").dropFirst(verb.count))"
    }

    /// The sentences of the discussion about exit statuses, without their common beginning.
    var exits: String {
        discussion.matches(of: #/The exit status is ([^.]*(?:\. With [^.]*)?)\./#)
            .map { String($0.1) }.joined(separator: "; ")
    }

    /// The statuses that the sentences mention.
    var statuses: [Int32] { exits.matches(of: #/\b(\d+)\b/#).compactMap { Int32($0.1) } }
}

/// The files that the examples name, and what the shell does before and after some of them.
enum ExampleFolder {
    static func write(to segue: SegueCommandLine) throws {
        for folder in ["config/flows", "tests"] {
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/\(folder)", withIntermediateDirectories: true)
        }
        try segue.write(stack)
        for name in ["config/flows/ios.yaml", "config/flows/mac.yaml"] {
            try segue.write(String(contentsOfFile: Repository.path(name), encoding: .utf8), to: name)
        }
        for name in ["shop.yaml", "old.yaml", "new.yaml", "ios.yaml", "next.yaml"] {
            try segue.write(flow, to: name)
        }
        try segue.write(
            #"{"name": "shop", "version": 1, "platform": "ios", "start": "menu", "screens": {"menu": {}}, "transitions": []}"#,
            to: "flow.json")
        let contract = try String(contentsOfFile: Repository.path("config/contract.json"), encoding: .utf8)
        try segue.write(contract, to: "config/contract.json")
        try segue.write("- send: event.LaunchFinished\n", to: "story.yaml")
        try segue.write("- send: command.CoffeeWanted\n", to: "tests/coffee.yaml")
    }

    private static let flow = """
        name: coffee
        version: 1
        platform: ios
        start: menu
        screens:
          menu: { sends: [command.CoffeeWanted] }
          cup: {}
        transitions:
          - on: command.CoffeeWanted
            do: [push: cup]
        """

    private static let stack = """
        name: shop
        services:
          broker: { command: broker, healthcheck: { test: [NOTIFY] } }
          ios-coordinator:
            command: navigation-coordinator --flow config/flows/ios.yaml
            depends_on: { broker: { condition: service_healthy } }
            healthcheck: { test: [NOTIFY] }
          page:
            command: web-gateway
            depends_on: { broker: { condition: service_healthy } }
            healthcheck: { test: [NOTIFY] }
          web: { command: sleep 600, labels: { segue.contract: none } }
          api: { command: sleep 600, labels: { segue.contract: none } }
          tests: { command: "true", labels: { segue.contract: none } }
        """

    static let preparation = [
        "segue get": "segue monitor --type document.NavigationState --since beginning --count 1",
        "segue keys add": "segue keys init",
        "segue new message": "cd tea-time", "segue new screen": "cd tea-time", "segue new service": "cd tea-time",
    ]

    /// Ends of commands that would otherwise run until Ctrl-C.
    static let ends = [
        "segue monitor": "--since beginning --count 1", "segue top": "--once",
        "segue record to": "--since beginning --until end", "segue replay": "--dry-run",
    ]
}
