import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Presentations")
struct PresentationTests {
    private static let question = PresentationOptions(
        message: "Delete ${data.name}?",
        buttons: [
            AlertButton(id: "delete", title: "Delete", role: .destructive, sends: "command.DeletionConfirmed"),
            AlertButton(id: "keep", title: "Keep", role: .cancel),
        ])

    private static let mandatory = PresentationOptions(interactiveDismissal: false)

    private func session(_ actions: Flow.Action..., next: Flow.Action = .dismissAll) throws -> Session {
        var session = Session(
            try Flow("letters", version: 1, platform: "any", start: "a") {
                for name in ["a", "b", "c", "d", "e"] { Flow.Screen(name) }
                Flow.Transition(on: "event.Go", do: actions)
                Flow.Transition(on: "event.Next", do: [next])
            })
        #expect(session.send("event.Go", ["name": "Bach"]).failureCodes.isEmpty)
        return session
    }

    @Test("A dialog shows its question, and closes when it is answered")
    func dialog() throws {
        var session = try session(.present("b", as: .dialog, options: Self.question))
        #expect(session.state.presentations.first?.options.message == "Delete Bach?")
        let effects = session.report("AlertAnswered", "b-2", ["button": "delete"])
        #expect(session.presented.isEmpty)
        #expect(
            effects == [
                .screenDismissed(instance: "b-2", screen: "b"),
                .send(type: "command.DeletionConfirmed", data: [:]),
            ])
        #expect(session.report("AlertAnswered", "b-2", ["button": "delete"]).isEmpty)
    }

    @Test("An unknown answer to a dialog is refused with the names of its buttons")
    func wrongAnswer() throws {
        var session = try session(.present("b", as: .dialog, options: Self.question))
        #expect(
            session.report("AlertAnswered", "b-2", ["button": "x"]).discards
                == ["command.AlertAnswered: the dialog has no button 'x'; its buttons are delete, keep"])
    }

    @Test(
        "A question has no stack, and nothing can be presented over it", arguments: [PresentationStyle.alert, .dialog])
    func overQuestion(style: PresentationStyle) throws {
        var options = Self.question
        options.title = "Sure?"
        let cases: [(Flow.Action, String)] = [
            (.present("c", as: .sheet), "navigation.awaitsAnswer"),
            (.present("c", as: style, options: options), "navigation.awaitsAnswer"),
            (.push("c"), "navigation.holdsNoStack"), (.replacePath(["c"]), "navigation.holdsNoStack"),
        ]
        for (action, code) in cases {
            var session = try session(
                .present("a", as: .sheet), .present("b", as: style, options: options), next: action)
            let before = session.machine
            #expect(session.send("event.Next", ["name": "x"]).failureCodes == [code])
            #expect(session.machine == before)
        }
    }

    @Test(
        "A presentation that the user may not dismiss stays, and the report is discarded",
        arguments: [PresentationStyle.sheet, .popover, .window])
    func mandatory(style: PresentationStyle) throws {
        var session = try session(.present("b", as: style, options: Self.mandatory), .push("c"))
        let before = session.machine
        #expect(
            session.report("PresentationDismissed", "b-2").discards
                == ["command.PresentationDismissed: screen instance 'b-2' cannot be dismissed by the user"])
        #expect(session.machine == before)
        #expect(session.report("BackCompleted", "c-3").dismissals == ["c-3"])
        #expect(session.send("event.Next").dismissals == ["b-2"])
    }

    @Test("A sheet beneath a mandatory one can be dismissed, and closes it too")
    func beneathMandatory() throws {
        var session = try session(.present("b", as: .sheet), .present("c", as: .sheet, options: Self.mandatory))
        #expect(session.report("PresentationDismissed", "b-2").dismissals == ["c-3", "b-2"])
    }

    @Test("A presentation is stored with all its options")
    func stored() throws {
        let session = try session(
            .present(
                "b", as: .sheet,
                options: PresentationOptions(detents: [.large], dragIndicator: false, interactiveDismissal: false)),
            .push("c"), .present("d", as: .window), .present("e", as: .dialog, options: Self.question))
        let snapshot = session.machine.snapshot
        let json = try JSONValue(encoding: snapshot)
        #expect(json.value(at: "state.presented.interactiveDismissal") == false)
        #expect(json.value(at: "state.presented.presented.presented.buttons.0.role") == "destructive")
        #expect(try json.decode(NavigationSnapshot.self) == snapshot)
    }

    @Test(
        "A style that the platform lacks is a finding, unless the flow declares it",
        arguments: [
            ("ios", PresentationStyle.window), ("mac", .fullScreen), ("macOS", .fullScreen), ("watchos", .popover),
        ])
    func lackingStyle(platform: String, style: PresentationStyle) throws {
        func flow(_ presentations: [PresentationStyle]?) throws -> Flow {
            try Flow("tiny", version: 1, platform: platform, start: "a", presentations: presentations) {
                Flow.Screen("a")
                Flow.Transition(on: "event.Go", do: [.present("a", as: style)])
            }
        }
        let error = #expect(throws: FlowError.self) { try flow(nil) }
        #expect(
            error?.message.contains("platform '\(platform)' has no style '\(style.rawValue)'; its styles are sheet")
                == true)
        #expect(throws: FlowError.self) { try flow([.sheet]) }
        let stated = try flow([style, .sheet])
        #expect(try Flow(yaml: stated.json.description, file: "written.json") == stated)
        #expect(try flow([.sheet, style]).hash == stated.hash)
    }

    @Test("A platform that Segue does not know has every style")
    func unknownPlatform() throws {
        for style in [PresentationStyle.window, .fullScreen, .popover] { _ = try session(.present("a", as: style)) }
    }
}
