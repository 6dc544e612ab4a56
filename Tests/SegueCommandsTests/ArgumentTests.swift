import ArgumentParser
import Compose
import Foundation
import Monitor
import TestSupport
import Testing

@testable import SegueCommands

@Suite("Arguments")
struct ArgumentTests {
    @Test(
        "say where to begin",
        arguments: [
            ("now", MonitorStart.now), ("beginning", .beginning), ("retained", .retained), ("17", .offset(17)),
            ("5m", .ago(.seconds(300))), ("1h30m", .ago(.seconds(5400))), ("500ms", .ago(.milliseconds(500))),
            ("last", .last), ("2026-03-01T13:34:56+01:00", .time(Date(timeIntervalSince1970: 1_772_368_496))),
        ])
    func since(text: String, start: MonitorStart) {
        #expect(MonitorStart(argument: text) == start)
    }

    @Test("refuse what is no place to begin", arguments: ["", "5x", "-1", "yesterday", "1.5"])
    func noStart(text: String) {
        #expect(MonitorStart(argument: text) == nil)
    }

    @Test(
        "say where to end",
        arguments: [
            ("end", MonitorEnd.end), ("17", .offset(17)), ("5m", .ago(.seconds(300))), ("now", nil), ("last", nil),
            ("2026-03-01T12:34:56Z", .time(Date(timeIntervalSince1970: 1_772_368_496))), ("", nil),
        ])
    func until(text: String, end: MonitorEnd?) {
        #expect(MonitorEnd(argument: text) == end)
    }

    @Test(
        "say how long a command lasts",
        arguments: [
            ("none", Lifetime.unlimited), ("5", .seconds(5)), ("0.5", .seconds(0.5)), ("0", nil), ("-1", nil),
            ("31622401", .seconds(31_622_401)), ("2e11", .seconds(2e11)), ("3e11", nil), ("inf", nil), ("nan", nil),
            ("1e300", nil), ("9223372036854775808", nil),
        ])
    func lifetime(text: String, lifetime: Lifetime?) {
        #expect(Lifetime(argument: text) == lifetime)
    }

    @Test("choose the bus: --bus, then -p, then SEGUE_BUS, then the folder's project")
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

    @Test("give a project the name of its file, though the rest of that be wrong")
    func projectName() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let file = scratch.path("compose.yaml")
        try "name: ${NAME:-mine}\nservices: {a: {comand: '${MISSING:?}'}}".write(
            toFile: file, atomically: true, encoding: .utf8)
        #expect(try ProjectOptions.parse([]).resolve(files: [file]).name == "mine")
        #expect(try ProjectOptions.parse(["-p", "other"]).resolve(files: [file]).name == "other")
    }
}
