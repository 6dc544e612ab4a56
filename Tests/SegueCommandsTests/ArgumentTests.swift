import ArgumentParser
import Compose
import Foundation
import Monitor
import Support
import TestSupport
import Testing

@testable import SegueCommands

@Suite("Arguments of segue")
struct ArgumentTests {
    @Test(
        "An argument gives the position where the output begins",
        arguments: [
            ("now", MonitorStart.now), ("beginning", .beginning), ("retained", .retained), ("17", .offset(17)),
            ("5m", .ago(.seconds(300))), ("1h30m", .ago(.seconds(5400))), ("500ms", .ago(.milliseconds(500))),
            ("last", .last), ("2026-03-01T13:34:56+01:00", .time(Date(timeIntervalSince1970: 1_772_368_496))),
        ])
    func since(text: String, start: MonitorStart) {
        #expect(MonitorStart(argument: text) == start)
    }

    @Test("An invalid beginning is refused", arguments: ["", "5x", "-1", "yesterday", "1.5"])
    func noStart(text: String) {
        #expect(MonitorStart(argument: text) == nil)
    }

    @Test(
        "A time can be written as a person does, in the local time zone",
        arguments: [
            ("2026-03-01", "2026-02-28T23:00:00.000Z"), ("2026-03-01 13:34", "2026-03-01T12:34:00.000Z"),
            ("2026-03-01T13:34:56", "2026-03-01T12:34:56.000Z"), ("08:05", "2026-07-10T06:05:00.000Z"),
            ("08:05:09", "2026-07-10T06:05:09.000Z"),
            ("08:05:09.25", "2026-07-10T06:05:09.250Z"), ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z"),
            ("2026-03-29 02:30", "2026-03-29T01:30:00.000Z"), ("2026-10-25 02:30", "2026-10-25T00:30:00.000Z"),
            ("2026-02-30", nil), ("25:00", nil), ("", nil), ("yesterday", nil), ("2026-03", nil),
        ] as [(String, String?)])
    func wallTime(text: String, utc: String?) throws {
        // Central European Time, with the summer of 2026.
        let zone = LocalZone { (1_774_746_000..<1_792_890_000).contains($0) ? 7200 : 3600 }
        let now = try #require(Timestamp.date(from: "2026-07-10T20:00:00Z"))
        #expect(WallTime.date(from: text, in: zone, now: now).map(Timestamp.text(of:)) == utc)
    }

    @Test("A time is shown with its zone")
    func shownTime() {
        let date = Date(timeIntervalSince1970: 1_772_368_496.5)
        for (offset, text) in [
            (0, "2026-03-01T12:34:56.500Z"), (3600, "2026-03-01T13:34:56.500+0100"),
            (-12_600, "2026-03-01T09:04:56.500-0330"), (1172, "2026-03-01T12:34:56.500Z"),
        ] {
            let zone = LocalZone { _ in Int64(offset) }
            #expect(WallTime.text(of: date, in: zone) == text)
            #expect(Timestamp.date(from: text) == date)
        }
    }

    @Test(
        "An argument gives the position where the output ends",
        arguments: [
            ("end", MonitorEnd.end), ("17", .offset(17)), ("5m", .ago(.seconds(300))), ("now", nil), ("last", nil),
            ("2026-03-01T12:34:56Z", .time(Date(timeIntervalSince1970: 1_772_368_496))), ("", nil),
        ])
    func until(text: String, end: MonitorEnd?) {
        #expect(MonitorEnd(argument: text) == end)
    }

    @Test(
        "An argument gives the duration of a command",
        arguments: [
            ("none", Lifetime.unlimited), ("5", .seconds(5)), ("0.5", .seconds(0.5)), ("0", nil), ("-1", nil),
            ("31622401", .seconds(31_622_401)), ("2e11", .seconds(2e11)), ("3e11", nil), ("inf", nil), ("nan", nil),
            ("1e300", nil), ("9223372036854775808", nil),
        ])
    func lifetime(text: String, lifetime: Lifetime?) {
        #expect(Lifetime(argument: text) == lifetime)
    }

    @Test("The bus is chosen by --bus, then -p, then SEGUE_BUS, then the folder's project")
    func bus() throws {
        let environment = ["SEGUE_BUS": "tcp://h:1"]
        let all = try BusOptions.parse(["--bus", "tcp://b:1", "-p", "x"])
        #expect(try all.location(environment: environment) == .init(address: "tcp://b:1", origin: "--bus"))
        let project = try BusOptions.parse(["-p", "x"])
        #expect(try project.location(environment: environment).address == Project(name: "x").busAddress)
        let none = try BusOptions.parse([])
        #expect(try none.location(environment: environment) == .init(address: "tcp://h:1", origin: "SEGUE_BUS"))
        #expect(try none.location(environment: [:]).address == none.project.resolve().busAddress)
    }

    private struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "segue", subcommands: [Up.self, Flow.self])
    }
    private struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "up", aliases: ["run"])
        @Argument var services: [String] = []
    }
    private struct Flow: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "flow", subcommands: [Check.self])
    }
    private struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "check")
    }

    @Test(
        "The options that select files and projects can be before the verb",
        arguments: [
            ("-f a.yaml up web", "up -f a.yaml web"),
            ("--file=a.yaml -p demo flow check x", "flow check --file=a.yaml -p demo x"),
            ("up -f a.yaml", "up -f a.yaml"), ("--version", "--version"), ("-f a.yaml", "-f a.yaml"),
            ("help flow", "help flow"),
        ])
    func leadingOptions(line: String, parsed: String) throws {
        let verb = VerbPath(line.split(separator: " ").map(String.init), of: Root.self)
        try verb.check("segue")
        #expect(verb.arguments.joined(separator: " ") == parsed)
    }

    @Test(
        "An unknown verb is refused with the closest one",
        arguments: [
            ("upp", "'upp' is not a command of 'segue'; did you mean 'segue up'?"),
            ("-p demo uo", "'uo' is not a command of 'segue'; did you mean 'segue up'?"),
            ("help nope", "'nope' is not a command of 'segue'; see 'segue --help'"),
            ("flow chek x", "'chek' is not a command of 'segue flow'; did you mean 'segue flow check'?"),
            ("help flow chek", "'chek' is not a command of 'segue flow'; did you mean 'segue flow check'?"),
        ])
    func unknownVerb(line: String, message: String) {
        let verb = VerbPath(line.split(separator: " ").map(String.init), of: Root.self)
        let error = #expect(throws: ValidationError.self) { try verb.check("segue") }
        #expect(error?.message == message)
    }

    @Test("The project has the name in its file, even if the rest of the file is invalid")
    func projectName() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let file = scratch.path("compose.yaml")
        try "name: ${NAME:-mine}\nservices: {a: {comand: '${MISSING:?}'}}".write(
            toFile: file, atomically: true, encoding: .utf8)
        #expect(try ProjectOptions.parse([]).resolve(ComposeSources(paths: [file])).name == "mine")
        #expect(try ProjectOptions.parse(["-p", "other"]).resolve(ComposeSources(paths: [file])).name == "other")
    }
}
