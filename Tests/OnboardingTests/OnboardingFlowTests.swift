import FlowFiles
import Foundation
import Navigation
import Support
import Testing

/// Tests of the flow without a bus: changes of the state, effects and discarded messages.
@Suite("Flow of the onboarding")
struct OnboardingFlowTests {
    private static let problem = Flow.Action.present(
        "problem", as: .alert,
        options: PresentationOptions(
            title: "That does not work", message: "${answer.problem}",
            buttons: [AlertButton(id: "ok", title: "OK", role: .cancel)]))
    private static let late = Flow.Action.present(
        "problem", as: .alert,
        options: PresentationOptions(
            title: "That takes too long", message: "Nothing is lost. Try again in a moment.",
            buttons: [AlertButton(id: "ok", title: "OK", role: .cancel)]))

    private static func built() throws -> Flow {
        let saved = Flow.Guard(
            accept: "event.OnboardingSaved", reject: "event.OnboardingRefused", deadline: .seconds(5),
            rejected: [problem], expired: [late])
        let final = Flow.Step("final", title: "Welcome")
        return try Flow("onboarding", version: 1, platform: "onboarding", start: "name") {
            Flow.Screen("problem")
            Flow.Step("name", title: "What is your name?", next: "command.NameEntered", guard: saved) {
                Flow.Step("age", title: "How old are you?", next: "command.AgeEntered", guard: saved) {
                    Flow.Step(
                        "plan", title: "Do you work solo or in a team?", next: "command.PlanChosen", guard: saved
                    ) {
                        Flow.Step(
                            "team", title: "What is your team called?", where: ["plan": "team"],
                            next: "command.TeamEntered", guard: saved
                        ) {
                            final
                        }
                        final
                    }
                }
            }
        }
    }

    @Test("The file equals the flow in Swift")
    func same() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../config/flows/examples/onboarding.yaml").standardizedFileURL.path
        #expect(try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file) == Self.built())
    }

    /// A machine of the flow, with a record of its effects.
    private struct Walk {
        var machine: Machine
        var sent = 0
        var effects: [Machine.Effect] = []

        var shown: [String] { machine.state.path.map(\.screen) + machine.state.presentations.map(\.instance.screen) }

        mutating func send(_ type: String, _ data: JSONValue = [:], answering cause: String? = nil) {
            sent += 1
            effects += machine.handle(
                Machine.Input(
                    id: "m\(sent)", type: type, data: data, attributes: Machine.Attributes(causationID: cause)))
        }

        /// - Returns: The effects since the last call, except `began`.
        mutating func happened() -> [Machine.Effect] {
            defer { effects = [] }
            return effects.filter { if case .began = $0 { false } else { true } }
        }
    }

    private func walk() throws -> Walk {
        Walk(machine: Machine(flow: try Self.built()))
    }

    private func next(_ walk: inout Walk, _ type: String, _ data: JSONValue = [:]) {
        walk.send(type, data)
        let id = "m\(walk.sent)"
        #expect(walk.machine.state.attempt?.id == id)
        #expect(walk.happened() == [.expectAnswer(attempt: id, within: .seconds(5))])
    }

    @Test(
        "A solo user sees three screens before the last, and one of a team four",
        arguments: [("solo", ["age", "plan", "final"]), ("team", ["age", "plan", "team", "final"])])
    func branches(plan: String, path: [String]) throws {
        var walk = try walk()
        let entries: [(String, JSONValue)] = [
            ("command.NameEntered", ["name": "Ann"]), ("command.AgeEntered", ["age": 35]),
            ("command.PlanChosen", ["plan": .string(plan)]), ("command.TeamEntered", ["team": "Night shift"]),
        ]
        for (index, (type, data)) in entries.prefix(path.count).enumerated() {
            next(&walk, type, data)
            #expect(walk.shown == Array(path.prefix(index)), "nothing moves before the answer")
            walk.send("event.OnboardingSaved", answering: "m\(walk.sent)")
            #expect(walk.shown == Array(path.prefix(index + 1)))
            #expect(walk.happened().isEmpty)
        }
        #expect(walk.machine.revision == 2 * path.count)
    }

    @Test("A refusal is shown over the screen, and after its answer the next attempt succeeds")
    func refused() throws {
        var walk = try walk()
        next(&walk, "command.NameEntered", ["name": ""])
        walk.send("event.OnboardingRefused", ["problem": "Your name is missing."], answering: "m1")
        #expect(walk.shown == ["problem"])
        #expect(walk.machine.state.presentations.map(\.options.message) == ["Your name is missing."])
        let alert = walk.machine.state.presentations[0].instance.id
        walk.send("command.AlertAnswered", ["instance": .string(alert), "button": "ok"])
        #expect(walk.shown.isEmpty)
        #expect(walk.happened() == [.screenDismissed(instance: alert, screen: "problem")])
        next(&walk, "command.NameEntered", ["name": "Ann"])
        walk.send("event.OnboardingSaved", answering: "m4")
        #expect(walk.shown == ["age"])
        #expect(walk.machine.revision == 5)
    }

    @Test("A second tap during an attempt, an answer to nothing and a late answer change nothing")
    func late() throws {
        var walk = try walk()
        next(&walk, "command.NameEntered", ["name": "Ann"])
        walk.send("command.NameEntered", ["name": "Bo"])
        #expect(
            walk.happened() == [
                .messageDiscarded(
                    messageID: "m2",
                    reason: "command.NameEntered: command.NameEntered waits for an answer")
            ])
        walk.send("event.OnboardingSaved", answering: "m2")
        #expect(walk.happened().isEmpty)
        walk.send("event.GuardDeadlinePassed", ["attempt": "m1"])
        #expect(walk.shown == ["problem"])
        #expect(
            walk.happened() == [
                .messageDiscarded(messageID: "m1", reason: "command.NameEntered: no answer came in time")
            ])
        let revision = walk.machine.revision
        walk.send("event.OnboardingSaved", answering: "m1")
        #expect(
            walk.happened() == [
                .messageDiscarded(messageID: "m5", reason: "event.OnboardingSaved: attempt 'm1' has ended")
            ])
        #expect(walk.machine.revision == revision)
    }

    @Test("A user who goes back can choose another branch")
    func back() throws {
        var walk = try walk()
        for (type, data) in [
            ("command.NameEntered", [:]), ("command.AgeEntered", [:]), ("command.PlanChosen", ["plan": "team"]),
        ] as [(String, JSONValue)] {
            next(&walk, type, data)
            walk.send("event.OnboardingSaved", answering: "m\(walk.sent)")
        }
        let team = walk.machine.state.path[2].id
        walk.send("command.BackCompleted", ["instance": .string(team)])
        #expect(walk.happened() == [.screenDismissed(instance: team, screen: "team")])
        next(&walk, "command.PlanChosen", ["plan": "solo"])
        walk.send("event.OnboardingSaved", answering: "m\(walk.sent)")
        #expect(walk.shown == ["age", "plan", "final"])
    }
}
