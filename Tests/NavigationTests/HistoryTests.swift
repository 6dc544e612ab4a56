import Navigation
import SampleFlows
import Support
import Testing

@Suite("Random histories of the shipped flows")
struct HistoryTests {
    static let histories = ["ios", "mac"].flatMap { platform in (0..<40).map { (platform, UInt64($0)) } }
    private static let steps = 150

    @Test(
        "Every instance is unique and dismissed once, and each change has a revision and a cause", arguments: histories)
    func invariants(platform: String, seed: UInt64) throws {
        var machine = Machine(flow: try ShippedFlows.flow(platform))
        var history = History(seed: seed)
        var dismissed = Set<String>()
        for _ in 0..<Self.steps {
            let before = machine
            let input = history.next(for: machine.state)
            let effects = machine.handle(input)

            let instances = (machine.state.open + machine.state.leaving).map(\.id)
            #expect(Set(instances).count == instances.count)
            let gone = Set(before.state.open.map(\.id)).subtracting(machine.state.open.map(\.id))
            // An instance that a step both opens and dismisses was never open between steps, so `dismissals` may have
            // more instances than `gone`.
            #expect(gone.isSubset(of: effects.dismissals))
            for instance in effects.dismissals { #expect(dismissed.insert(instance).inserted) }
            for leaving in machine.state.leaving { #expect(dismissed.contains(leaving.id)) }

            #expect(machine.revision == before.revision + (machine.state == before.state ? 0 : 1))
            if machine.state == before.state { #expect(machine == before) } else { #expect(machine.cause == input.id) }
            let isRefused = effects.discarded.contains(input.id) || !effects.failureCodes.isEmpty
            // The next message of any type discards a link that has expired.
            if isRefused, !effects.discarded.contains(where: { $0 != input.id }) { #expect(machine == before) }
            if machine.state.root.instance.screen != "playlistSelection" {
                #expect(machine.state.open.count == 1)
            }
        }
    }

    @Test("A message that arrives twice in a row counts once", arguments: histories)
    func duplicates(platform: String, seed: UInt64) throws {
        var machine = Machine(flow: try ShippedFlows.flow(platform))
        var history = History(seed: seed)
        for _ in 0..<Self.steps {
            let input = history.next(for: machine.state)
            let parked = machine.state.parked
            _ = machine.handle(input)
            // If the step also follows a parked link, the link opens other screens than the message. The repeated
            // message opens its own screens again, so the machines may differ.
            if parked != nil, machine.state.parked == nil { continue }
            let once = machine
            _ = machine.handle(input)
            #expect(machine == once, "\(input)")
        }
    }

    @Test("Equal histories give equal snapshots, also with a restart at any point", arguments: histories)
    func restarts(platform: String, seed: UInt64) throws {
        var history = History(seed: seed)
        try expectNoDifference(throughRestartsOf: try ShippedFlows.flow(platform), steps: Self.steps) {
            history.next(for: $0)
        }
    }

    @Test("A link to the URL of the current state changes nothing", arguments: histories)
    func urls(platform: String, seed: UInt64) throws {
        var machine = Machine(flow: try ShippedFlows.flow(platform))
        var history = History(seed: seed)
        for _ in 0..<Self.steps {
            _ = machine.handle(history.next(for: machine.state))
            guard let url = machine.snapshot.url else { continue }
            var probe = machine
            let effects = probe.handle(
                Machine.Input(id: "link", type: "event.DeepLinkReceived", data: ["url": .string(url)]))
            #expect(effects.isEmpty)
            #expect(probe == machine)
        }
    }

    @Test("A deauthorisation after the launch leads to the choice of a service from every state", arguments: histories)
    func deauthorised(platform: String, seed: UInt64) throws {
        var machine = Machine(flow: try ShippedFlows.flow(platform))
        var history = History(seed: seed)
        for _ in 0..<Self.steps {
            _ = machine.handle(history.next(for: machine.state))
            var probe = machine
            _ = probe.handle(
                Machine.Input(id: "out", type: "event.SpotifyAuthorizationUpdated", data: ["status": "deauthorized"]))
            let before = machine.state.root.instance.screen
            #expect(probe.state.root.instance.screen == (before == "launch" ? "launch" : "serviceSelection"))
            #expect(probe.state.open.count == 1)
        }
    }
}
