import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Testing

extension Command {
    struct StepTaken: CommandMessage {}
}

@Suite("Flow changes of docs/views.md")
struct FlowChangeTests {
    private static let flow = """
        name: walk
        version: 1
        platform: ios
        start: home
        screens: { home: { sends: [command.StepTaken] }, bridge: { sends: [command.StepTaken] }, hill: }
        transitions:
          - on: command.StepTaken
            when: { top: home }
            do: [{ push: bridge }]
          - on: command.StepTaken
            when: { top: bridge }
            do: [{ push: hill }]
        """

    @Test(
        "An open session keeps the screens that the changed flow still has, and the others leave",
        .timeLimit(.minutes(3)))
    func screenRemoved() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.flow, to: "walk.yaml")
            let coordinator = TestService(
                "ios-coordinator", command: ["navigation-coordinator", "--flow", "\(segue.directory)/walk.yaml"],
                after: ["broker"])
            let path = "\(segue.directory)/walk.yaml"
            try await TestStack.with([.broker, coordinator]) { stack in
                try await stack.bus.publish(DomainEvent.LaunchFinished())
                for screen in ["bridge", "hill"] {
                    try await stack.bus.send(Command.StepTaken())
                    try await stack.screen(screen, on: "ios")
                }
                let former = try await stack.screen("hill", on: "ios")
                let changed = Self.flow.replacing(", hill: }", with: ", peak: }")
                    .replacing("push: hill", with: "push: peak")
                try changed.write(toFile: path, atomically: true, encoding: .utf8)
                try await stack.killAndRestart("ios-coordinator")
                let restored = try await stack.screen("bridge", on: "ios")
                #expect(restored.state.path.first == former.state.path.first, "the instance is the same")
                #expect(restored.state.leaving.map(\.screen).contains("hill"))
                #expect(restored.rule == nil)
                try await stack.bus.send(Command.StepTaken())
                let next = try await stack.screen("peak", on: "ios")
                #expect(next.rule == "transitions[1]")
                #expect(next.flow.hash != former.flow.hash)
            }
        }
    }
}
