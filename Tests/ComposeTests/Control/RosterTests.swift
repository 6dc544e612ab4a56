import Foundation
import Testing

@testable import Compose

/// The effects of requests on a project, without any process.
@Suite("Requests to a supervisor")
struct RosterTests {
    private let scratch: Scratch
    private var roster: Roster

    init() throws {
        scratch = try Scratch()
        roster = try Roster(empty: scratch.project())
        _ = try roster.apply(.up(UpRequest(stack: Self.stack())))
        runAll()
    }

    private static func stack(_ change: (inout [Service]) -> Void = { _ in }) -> Stack {
        var services: [Service] = [
            .shell("web", "web", after: [Dependency(on: "api", restarts: true)]),
            .shell("api", "api", after: [Dependency(on: "db", condition: .healthy)]),
            .shell("db", "db"),
            .shell("other", "other"),
        ]
        change(&services)
        return Stack(directory: "/srv", services: services)
    }

    /// Marks the instances that may start as ready, and the instances that must end as ended.
    private mutating func runAll() {
        let names = roster.status.services.map(\.name)
        // The loop runs once for each instance, because an instance may wait for all others.
        for name in Array(repeating: names, count: names.count).joined() where roster.claimRound(of: name) != nil {
            roster.change(name) { ($0.state, $0.startedAt) = (.ready, Date()) }
        }
        for name in names where !roster.dismiss(name) && roster.isToEnd(name) { roster.settle(name) }
    }

    /// Applies a request.
    ///
    /// - Returns: the changes as strings, without instances that stay as they are.
    private mutating func apply(_ request: ControlRequest) throws -> [String] {
        try roster.apply(request).filter { $0.action != .keep }.map { "\($0.action) \($0.instance)" }
    }

    @Test("A repeated 'up' with the same stack changes nothing")
    mutating func unchanged() throws {
        let changes = try roster.apply(.up(UpRequest(stack: Self.stack())))
        #expect(changes.map(\.action) == [.keep, .keep, .keep, .keep])
        #expect(changes.map(\.instance) == ["db", "api", "web", "other"], "in the order of dependency")
    }

    @Test("A changed service restarts with its dependents, a new one starts, and a removed one is removed")
    mutating func changed() throws {
        let stack = Self.stack { services in
            services[1].environment["LEVEL"] = "debug"
            services.removeLast()
            services.append(.shell("new", "new", after: [Dependency(on: "api", restarts: true)]))
        }
        #expect(try apply(.up(UpRequest(stack: stack))) == ["remove other", "restart api", "start new", "restart web"])
    }

    @Test("A change of a number, a dependency or a profile restarts no service")
    mutating func notChanged() throws {
        let stack = Self.stack { services in
            services[0].dependencies = []
            services[2].profiles = ["x"]
            services[3].replicas = 2
        }
        #expect(try apply(.up(UpRequest(stack: stack))) == ["start other-2"])
    }

    @Test("A service of an inactive profile continues, and can still be restarted")
    mutating func inactiveProfile() throws {
        let stack = Self.stack { $0.removeLast() }
        let request = UpRequest(stack: stack, inactive: ["other", "never"], recreation: .always)
        #expect(try apply(.up(request)) == ["restart db", "restart api", "restart web"])
        runAll()
        #expect(roster["other"]?.state == .ready)
        #expect(try apply(.restart(services: ["other"], followed: true, grace: nil)) == ["restart other"])
        guard case .start = roster.nextStep(of: "other") else {
            Issue.record("nobody knows any more what to start")
            return
        }
        _ = try apply(.stop(services: ["other"], grace: nil))
        runAll()
        #expect(try apply(.up(UpRequest(stack: stack, inactive: ["other"]))) == [], "stopped, it stays so")
        #expect(try apply(.up(UpRequest(stack: stack))) == ["remove other"], "the files have it no more")
    }

    @Test("'up' recreates services always or never if it is asked to")
    mutating func recreation() throws {
        let stack = Self.stack { $0[3].command = ["else"] }
        #expect(try apply(.up(UpRequest(stack: stack, recreation: .never))) == [])
        #expect(
            try apply(.up(UpRequest(stack: stack))) == ["restart other"], "what was left alone is still out of date")
        runAll()
        let selection = Selection(["db"])
        #expect(
            try apply(.up(UpRequest(stack: stack, selection: selection, recreation: .always))) == ["restart db"])
    }

    @Test("Only the selected services of a stack start, with their dependencies, and the others can start later")
    mutating func selection() throws {
        roster = try Roster(empty: scratch.project())
        #expect(
            try apply(.up(UpRequest(stack: Self.stack(), selection: Selection(["api"])))) == ["start db", "start api"])
        #expect(roster["web"]?.order.isWanted == false)
        #expect(try apply(.start(services: ["web"])) == ["start web"])

        roster = try Roster(empty: scratch.project())
        let alone = Selection(["api"], includesDependencies: false)
        #expect(try apply(.up(UpRequest(stack: Self.stack(), selection: alone))) == ["start api"])
        guard case .start = roster.nextStep(of: "api") else {
            Issue.record("it waits for what nobody starts")
            return
        }
    }

    @Test("A restart includes the dependents that request it, unless they are stopped or excluded")
    mutating func restart() throws {
        #expect(try apply(.restart(services: ["api"], followed: true, grace: nil)) == ["restart api", "restart web"])
        runAll()
        #expect(try apply(.restart(services: ["api"], followed: false, grace: nil)) == ["restart api"])
        runAll()
        _ = try apply(.stop(services: ["web"], grace: nil))
        runAll()
        #expect(try apply(.restart(services: ["api"], followed: true, grace: nil)) == ["restart api"])
        #expect(
            try apply(.restart(services: [], followed: true, grace: nil))
                == ["restart db", "restart api", "restart web", "restart other"])
    }

    @Test("A stopped service is stopped once, and starts with its dependencies")
    mutating func stopAndStart() throws {
        #expect(try apply(.stop(services: ["api", "db"], grace: nil)) == ["stop api", "stop db"])
        #expect(roster.mayEnd("api") && !roster.mayEnd("db"), "the dependent first")
        runAll()
        #expect(try apply(.stop(services: ["api", "db"], grace: nil)) == [])
        #expect(!roster.isOver, "somebody may start them again")
        #expect(try apply(.start(services: ["api"])) == ["start db", "start api"])
    }

    @Test("Scaling adds the lowest free numbers, removes the highest, and keeps the other instances")
    mutating func scale() throws {
        #expect(try apply(.scale(["other": 3])) == ["start other-2", "start other-3"])
        runAll()
        #expect(try apply(.scale(["other": 1])) == ["remove other-2", "remove other-3"])
        // One instance is added again before it has ended.
        #expect(try apply(.scale(["other": 2])) == ["start other-2"])
        #expect(roster.isToEnd("other-2") && roster["other-2"]?.order.isRemoved == false)
        runAll()
        #expect(roster.status.services.map(\.name) == ["web", "api", "db", "other", "other-2"])
        #expect(try apply(.scale(["other": 0])) == ["remove other", "remove other-2"])
    }

    @Test("A service can be restarted and scaled after one of its instances was removed")
    mutating func partlyRemoved() throws {
        _ = try apply(.scale(["other": 2]))
        runAll()
        #expect(try apply(.remove(services: ["other-2"], grace: nil)) == ["remove other-2"])
        runAll()
        #expect(try apply(.restart(services: ["other"], followed: true, grace: nil)) == ["restart other"])
        runAll()
        #expect(try apply(.scale(["other": 2])) == ["start other-2"])
        runAll()
        #expect(try apply(.remove(services: ["other"], grace: nil)) == ["remove other-2", "remove other"])
        #expect(throws: ComposeError.self) { try apply(.scale(["other": 2])) }
    }

    @Test("Instances are listed in the order of the file, also those that are added later")
    mutating func listed() throws {
        let names = ["web", "api", "db", "other"]
        #expect(roster.status.services.map(\.name) == names)
        _ = try apply(.scale(["api": 0]))
        runAll()
        #expect(roster.status.services.map(\.name) == ["web", "db", "other"])
        _ = try apply(.scale(["api": 2]))
        #expect(roster.status.services.map(\.name) == ["web", "api-1", "api-2", "db", "other"])
        let stack = Self.stack { $0.insert(.shell("first", "first"), at: 0) }
        _ = try roster.apply(.up(UpRequest(stack: stack)))
        #expect(roster.status.services.first?.name == "first")
    }

    @Test("An unknown name changes nothing, and is refused with the closest name")
    mutating func unknown() throws {
        let before = roster.status
        for request: ControlRequest in [
            .stop(services: ["db", "wep"], grace: nil), .start(services: ["wep"]), .scale(["wep": 1]),
            .restart(services: ["wep"], followed: true, grace: nil), .kill(services: ["wep"], signal: 9),
            .up(UpRequest(stack: Self.stack(), selection: Selection(["wep"]))),
        ] {
            var copy = roster
            let error = #expect(throws: ComposeError.self) { _ = try copy.apply(request) }
            #expect(error?.description == "project 'test' has no service 'wep'; did you mean 'web'?")
        }
        #expect(roster.status == before)
    }

    @Test("No service starts while the supervisor stops all of them")
    mutating func stopping() throws {
        roster.request(.orderly)
        let error = #expect(throws: ComposeError.self) { _ = try roster.apply(.start(services: [])) }
        #expect(error?.code == "stopping")
    }

    @Test("A service whose dependency is stopped is refused with this reason")
    mutating func neededButStopped() throws {
        _ = try apply(.stop(services: ["db"], grace: nil))
        runAll()
        _ = try apply(.restart(services: ["api"], followed: false, grace: nil))
        guard case .refuse(let error) = roster.nextStep(of: "api") else {
            Issue.record("it is not refused")
            return
        }
        #expect(
            error.description
                == "service 'api' cannot start: 'db' is stopped; start 'db' too, or use --no-deps")
    }

    @Test("An optional dependency is waited for, and ignored when it is lost")
    mutating func optional() throws {
        let optional = Dependency(on: "api", condition: .completed, isRequired: false)
        let stack = Self.stack { $0[3].dependencies = [optional] }
        _ = try apply(.up(UpRequest(stack: stack, recreation: .always)))
        for name in ["db", "api"] { roster.change(name) { ($0.round, $0.state) = ($0.order.round, .ready) } }
        guard case .wait = roster.nextStep(of: "other") else {
            Issue.record("it does not wait")
            return
        }
        roster.change("api") { ($0.state, $0.exitCode) = (.exited, 1) }
        guard case .start = roster.nextStep(of: "other") else {
            Issue.record("it does not start")
            return
        }
    }
}
