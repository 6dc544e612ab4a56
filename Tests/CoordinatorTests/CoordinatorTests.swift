import Contracts
import Coordinator
import EventBus
import Foundation
import Navigation
import Support
import TestSupport
import Testing

@Suite("Coordinator")
struct CoordinatorTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    @Test("A coordinator declares the messages that its flow receives and sends")
    func vocabulary() throws {
        let flow = try Flow.shop()
        #expect(flow.receives.contains(Command.ItemSelected.type))
        #expect(flow.receives.contains(Command.ScreenGone.type))
        #expect(!flow.receives.contains(DomainEvent.ScreenDismissed.type))
        #expect(flow.sends.contains(Document.NavigationState.type))
        #expect(flow.sends.contains(Command.OptionsOpened.type))
    }

    @Test("The first screen of the default session is published once")
    func start() async throws {
        for _ in 0..<2 {
            try await withRunning(fixture.coordinator(.shop())) {
                let snapshot = try #require(try await fixture.currentSnapshot())
                #expect(snapshot.state.root.instance.screen == "launch")
                #expect(snapshot.revision == 0)
            }
        }
        #expect(try await view.journalled(Document.NavigationState.self).count == 1)
    }

    @Test("The snapshot names its message as the cause, and is in one batch with the progress")
    func answersMessage() async throws {
        let command = try await fixture.withShop {
            let command = try await view.send(Command.ItemSelected(itemID: "7"), origin: fixture.phone)
            let snapshot = try await fixture.snapshot { $0.state.path.last?.screen == "item" }
            #expect(snapshot.cause == command.id)
            #expect(snapshot.state.path.last?.arguments == ["itemID": "7"])
            let document = try #require(try await view.documents(matching: [.type(Document.NavigationState.self)]).last)
            #expect(document.attributes.causationID == command.id)
            #expect(document.attributes.key == "ios")
            #expect(document.attributes.platform == "ios")
            return command
        }
        #expect(
            try await view.engine.claim(consumer: "navigation-coordinator.ios", as: .exclusive).position
                == command.position)
    }

    @Test("Two platforms follow their own flows from the same messages")
    func twoPlatforms() async throws {
        try await withRunning(fixture.coordinator(.shop("ios"))) {
            try await withRunning(fixture.coordinator(.shop("mac"))) {
                try await view.publish(DomainEvent.LaunchFinished(), origin: fixture.phone)
                for platform in ["ios", "mac"] {
                    try await fixture.snapshot(platform: platform) { $0.state.root.instance.screen == "list" }
                }
                // Only the coordinator of the report's own platform handles it.
                try await view.send(Command.ItemSelected(itemID: "7"))
                let item = try await fixture.snapshot { !$0.state.path.isEmpty }.state.top.id
                try await view.send(Command.BackCompleted(instance: item), origin: fixture.phone)
                try await fixture.snapshot { $0.state.path.isEmpty }
                try await view.send(Command.OptionsOpened())
                let mac = try await fixture.snapshot(platform: "mac") { !$0.state.presentations.isEmpty }
                #expect(mac.state.path.count == 1)
            }
        }
    }

    @Test(
        "A session begins with a launch event, even if no rule answers it, and is published once"
    )
    func beginsSession() async throws {
        let flow = try Flow("quiet", version: 1, platform: "ios", start: "form") { Flow.Screen("form") }
        try await withRunning(fixture.coordinator(flow)) {
            for _ in 0..<2 {
                try await view.publish(DomainEvent.LaunchFinished(), subject: "two", origin: fixture.phone)
                let snapshot = try await fixture.snapshot(session: "two") { _ in true }
                #expect(snapshot.session == "two" && snapshot.revision == 0)
                #expect(snapshot.state.top.screen == "form")
            }
            // If the second session's state were published twice, the second time would be before the third session's
            // state.
            try await view.publish(DomainEvent.LaunchFinished(), subject: "three", origin: fixture.phone)
            try await fixture.snapshot(session: "three") { _ in true }
        }
        let told = try await view.journalled(Document.NavigationState.self).map(\.subject)
        #expect(told == ["default", "two", "three"])
    }

    @Test("Two sessions are independent of each other")
    func twoSessions() async throws {
        try await fixture.withShop {
            try await view.publish(DomainEvent.LaunchFinished(), subject: "two")
            try await view.send(Command.ItemSelected(itemID: "1"), subject: "two")
            let two = try await fixture.snapshot(session: "two") { !$0.state.path.isEmpty }
            #expect(two.session == "two")
            #expect(two.revision == 2)
            let one = try #require(try await fixture.currentSnapshot())
            #expect(one.state.path.isEmpty)
        }
    }

    @Test("A URL is opened only on the device where the story began")
    func openURL() async throws {
        try await fixture.withShop {
            try await view.send(Command.LinkOpened(url: "https://example.com/a"), origin: fixture.phone)
            let event = try await view.received(DomainEvent.URLOpenRequested.self)[0]
            #expect(try event.decode(DomainEvent.URLOpenRequested.self).url == "https://example.com/a")
            #expect(event.attributes.device == "phone-1")
            #expect(event.attributes.platform == "ios")
        }
    }

    @Test("The command of an alert's button has its platform and device, and not the closed alert as its origin")
    func alertButton() async throws {
        try await fixture.withShop {
            try await view.publish(DomainEvent.Warned())
            let alert = try await fixture.snapshot { !$0.state.presentations.isEmpty }.state.top.id
            var origin = fixture.phone
            origin.instance = alert
            try await view.send(Command.AlertAnswered(instance: alert, button: "ok"), origin: origin)
            try await fixture.snapshot { $0.state.top.screen == "options" }
            let command = try await view.journalled(Command.OptionsOpened.self)[0]
            #expect(command.attributes.platform == "ios")
            #expect(command.attributes.device == "phone-1")
            #expect(command.attributes.instance == nil)
            #expect(command.attributes.expiryTime != nil)
        }
    }

    @Test("The actions of a button belong to the step of the answer, and its command has the alert's data")
    func buttonActions() async throws {
        let again = AlertButton(
            id: "again", title: "Again", sends: "command.ItemNeeded", data: ["itemID": "${data.itemID}"],
            do: [.push(.screen("item", ["itemID": "${data.itemID}"]))])
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
            for name in ["list", "item", "ready"] { Flow.Screen(name) }
            Flow.Transition(
                on: "command.ItemSelected",
                do: [.present("ready", as: .alert, options: PresentationOptions(title: "Ready", buttons: [again]))])
        }
        #expect(flow.sends.contains(Command.ItemNeeded.type))
        let alert = try await withRunning(fixture.coordinator(flow)) {
            try await view.send(Command.ItemSelected(itemID: "7"))
            return try await fixture.snapshot { $0.state.top.screen == "ready" }.state.top.id
        }
        // The coordinator has restarted between the question and the answer.
        try await withRunning(fixture.coordinator(flow)) {
            let answer = try await view.send(
                Command.AlertAnswered(instance: alert, button: "again"), origin: fixture.phone, lifetime: nil)
            let snapshot = try await fixture.snapshot { $0.state.top.screen == "item" }
            #expect(snapshot.cause == answer.id && snapshot.state.presentations.isEmpty)
            #expect(snapshot.state.top.arguments == ["itemID": "7"])
            let command = try await view.received(Command.ItemNeeded.self)[0]
            #expect(try command.decode(Command.ItemNeeded.self).itemID == "7")
            #expect(command.attributes.causationID == answer.id)
        }
    }

    @Test("The command of a rule on an act of the user is caused by the view's report, and is sent once")
    func userAct() async throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list")
            Flow.Screen("item")
            Flow.Transition(
                on: "command.ItemSelected", do: [.push(.screen("item", ["itemID": "${data.itemID}"]))])
            Flow.Transition(
                on: "user.wentBack", where: ["screen": "item"],
                do: [.send(type: "command.ItemNeeded", data: ["itemID": "${sender.itemID}"])])
        }
        #expect(!flow.receives.contains { $0.description.hasPrefix("user.") })
        try await withRunning(fixture.coordinator(flow)) {
            try await view.send(Command.ItemSelected(itemID: "7"))
            let item = try await fixture.snapshot { !$0.state.path.isEmpty }.state.top.id
            let reports = [
                try await view.send(Command.BackCompleted(instance: item), origin: fixture.phone, lifetime: nil),
                try await view.send(Command.BackCompleted(instance: item), origin: fixture.phone, lifetime: nil),
            ]
            try await view.send(Command.ItemSelected(itemID: "8"))
            try await fixture.snapshot { !$0.state.path.isEmpty && $0.state.top.id != item }
            let commands = try await view.journalled(Command.ItemNeeded.self)
            #expect(commands.map(\.attributes.causationID) == [reports[0].id])
            #expect(commands[0].attributes.device == "phone-1" && commands[0].attributes.instance == nil)
            #expect(try commands[0].decode(Command.ItemNeeded.self).itemID == "7")
        }
    }

    @Test("The dismissal of a screen is published for the services that work for it")
    func screenDismissed() async throws {
        try await fixture.withShop {
            try await view.send(Command.OptionsOpened())
            let sheet = try await fixture.snapshot { !$0.state.presentations.isEmpty }.state.top.id
            try await view.send(Command.PresentationDismissed(instance: sheet), origin: fixture.phone)
            let event = try #require(
                try await view.first(DomainEvent.ScreenDismissed.self) { $0.screen == "options" })
            #expect(try event.decode(DomainEvent.ScreenDismissed.self).instance == sheet)
            #expect(event.attributes.instance == sheet)
            #expect(event.attributes.platform == "ios")
        }
    }
}
