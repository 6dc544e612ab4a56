import Foundation
import Navigation
import Testing

/// Plays one history to two machines, of which one is stored and restored now and then, and expects no difference.
func expectNoDifference(
    throughRestartsOf flow: Flow, steps: Int, _ next: (NavigationState) -> Machine.Input
) throws {
    var steady = Machine(flow: flow)
    var restarted = Machine(flow: flow)
    for step in 0..<steps {
        let input = next(steady.state)
        #expect(steady.handle(input) == restarted.handle(input))
        #expect(steady.snapshot == restarted.snapshot)
        guard step.isMultiple(of: 7) else { continue }
        let stored = try JSONEncoder().encode(restarted.snapshot)
        let snapshot = try JSONDecoder().decode(NavigationSnapshot.self, from: stored)
        restarted = Restoration(snapshot, flow: flow).machine
    }
}
