import FlowFiles
import Foundation
import Navigation
import SampleFlows
import TestSupport
import Testing

@testable import FlowExploration

/// What an exploration leaves out, because it leads to no other states.
@Suite("Restarts, and messages that come late or twice")
struct DisturbanceTests {
    private static let flows = [
        "config/flows/ios.yaml", "config/flows/mac.yaml", "Tests/Fixtures/FlowDrawings/shop.yaml",
    ]

    /// Some of the explored states, with a machine in each of them.
    private func machines(_ path: String) throws -> (explorer: FlowExplorer, machines: [Machine]) {
        let text = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
        let flow = try Flow(yaml: text, file: path)
        var explorer = FlowExplorer([flow], hasOthers: true, limit: 200)
        explorer.explore()
        let some = stride(from: 0, to: explorer.states.count, by: 1 + explorer.states.count / 40)
        return (explorer, some.map { Machine(exploring: explorer.states[$0].machines[0], flow: flow) })
    }

    @Test("A coordinator that starts again continues in the same state", arguments: flows)
    func restarts(path: String) throws {
        for machine in try machines(path).machines {
            let restoration = Restoration(machine.snapshot, flow: machine.flow)
            #expect(restoration.dropped.isEmpty && restoration.machine.state == machine.state)
        }
    }

    @Test("A message that comes twice leads to a state that was explored", arguments: flows)
    func twice(path: String) throws {
        let (explorer, machines) = try machines(path)
        let known = Set(explorer.states.map(\.machines[0].state))
        for machine in machines {
            let state = ExploredMachine(machine)
            for occurrence in explorer.occurrences(in: [state]) where occurrence.kind != .time {
                var machine = machine
                _ = machine.handle(occurrence.input)
                let once = ExploredMachine(machine, after: state)
                // States beyond the limit are not known.
                guard known.contains(once.state) else { continue }
                _ = machine.handle(occurrence.input)
                let twice = ExploredMachine(machine, after: once)
                #expect(
                    known.contains(twice.state) || !explorer.exploration.isWhole,
                    "\(occurrence.input.type) in \(state.state.open.map(\.screen))")
            }
        }
    }
}
