import Contracts
import Coordinator
import EventBus
import Foundation
import Navigation
import Support
import TestSupport
import Testing

@Suite("Coordinator: deep links")
struct CoordinatorLinkTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    @Test("A flow with links declares that it receives deep links, and the commands that they send")
    func vocabulary() throws {
        let flow = try Flow.shop(links: true)
        #expect(flow.receives.contains(DomainEvent.DeepLinkReceived.type))
        #expect(flow.sends.contains(Command.ItemNeeded.type))
    }

    @Test("An early link is parked, also across a restart, and followed in the step that admits it")
    func parked() async throws {
        try await withRunning(fixture.coordinator(.shop(links: true))) {
            let link = try await view.publish(
                DomainEvent.DeepLinkReceived(url: "shop://item/a%2F7"), origin: fixture.phone)
            let parked = try await fixture.snapshot { $0.state.parked != nil }.state.parked
            #expect(parked?.messageID == link.id)
            // The parked link expires ten minutes after it was sent.
            let sent = Int((link.attributes.time.timeIntervalSince1970 * 1000).rounded())
            #expect(parked?.expires == sent + 600_000)
        }
        try await withRunning(fixture.coordinator(.shop(links: true))) {
            let launch = try await view.publish(DomainEvent.LaunchFinished())
            let snapshot = try await fixture.snapshot { $0.state.parked == nil && $0.revision > 0 }
            #expect(snapshot.cause == launch.id)
            #expect(snapshot.state.open.map(\.screen) == ["list", "item"])
            #expect(snapshot.state.top.arguments == ["itemID": "a/7"])
            #expect(snapshot.url == "shop://item/a%2F7")
            let command = try await view.received(Command.ItemNeeded.self)[0]
            #expect(command.attributes.causationID == launch.id)
            #expect(command.attributes.platform == "ios")
        }
        #expect(try await view.journalled(DomainEvent.MessageDiscarded.self).isEmpty)
    }

    @Test("A link's command expires if the story began on a device, and not if a tool began it")
    func lifetimes() async throws {
        try await withRunning(fixture.coordinator(.shop(links: true))) {
            try await view.publish(DomainEvent.LaunchFinished())
            let links = [
                try await view.publish(DomainEvent.DeepLinkReceived(url: "shop://item/1"), origin: fixture.phone),
                try await view.publish(
                    DomainEvent.DeepLinkReceived(url: "shop://item/2"), origin: Origin(platform: "ios")),
            ]
            let commands = try await view.received(Command.ItemNeeded.self, 2)
            #expect(commands.map { $0.attributes.expiryTime?.timeIntervalSince($0.attributes.time) } == [60, nil])
            for (link, command) in zip(links, commands) {
                let traces = [link, command].map { $0.attributes.traceparent.flatMap(TraceContext.init(parsing:)) }
                #expect(traces[0]?.traceID == traces[1]?.traceID && traces[0] != traces[1])
            }
        }
    }

    @Test("A link that could not be followed in time is discarded with a report")
    func expired() async throws {
        try await withRunning(fixture.coordinator(.shop(links: true))) {
            var link = try Envelope(DomainEvent.DeepLinkReceived(url: "shop://item/7"), source: view.source)
            link.attributes.time = Date() - 601
            try await view.publish(Batch([link]))
            try await fixture.snapshot { $0.state.parked != nil }
            try await view.publish(DomainEvent.LaunchFinished())
            let discarded = try await view.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).messageID == link.id)
            let snapshot = try await fixture.snapshot { $0.state.root.instance.screen == "list" }
            #expect(snapshot.state.path.isEmpty && snapshot.state.parked == nil)
        }
    }

    @Test("A URL without a link is discarded with a suggestion")
    func unknown() async throws {
        try await withRunning(fixture.coordinator(.shop(links: true))) {
            let link = try await view.publish(DomainEvent.DeepLinkReceived(url: "shop://itm/7"), origin: fixture.phone)
            let discarded: DomainEvent.MessageDiscarded =
                try await view.received(DomainEvent.MessageDiscarded.self)[0].decode()
            #expect(discarded.messageID == link.id)
            #expect(discarded.reason.hasSuffix("did you mean 'shop://item/{id}'?"))
        }
    }

    @Test("A link that opens no screens sends its command each time, without a new state")
    func action() async throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list", sends: ["command.ItemNeeded"])
            Flow.Link("shop://order/{id}", action: true, send: [.init("command.ItemNeeded", ["itemID": "${url.id}"])])
        }
        #expect(flow.sends.contains(Command.ItemNeeded.type))
        try await withRunning(fixture.coordinator(flow)) {
            var links: [Envelope] = []
            for _ in 0..<2 {
                let link = DomainEvent.DeepLinkReceived(url: "shop://order/7")
                links.append(try await view.publish(link, origin: fixture.phone))
            }
            let commands = try await view.received(Command.ItemNeeded.self, 2)
            #expect(commands.map(\.attributes.causationID) == links.map(\.id))
            #expect(try commands.map { try $0.decode(Command.ItemNeeded.self).itemID } == ["7", "7"])
            let snapshot = try #require(try await fixture.currentSnapshot())
            #expect(snapshot.revision == 0 && snapshot.url == nil)
        }
    }

    @Test("A parked link that a changed flow lacks is discarded with a report")
    func changedFlow() async throws {
        let link = try await withRunning(fixture.coordinator(.shop(links: true))) {
            let link = try await view.publish(DomainEvent.DeepLinkReceived(url: "shop://item/7"), origin: fixture.phone)
            try await fixture.snapshot { $0.state.parked != nil }
            return link
        }
        try await withRunning(fixture.coordinator(.shop())) {
            _ = try await view.first(DomainEvent.MessageDiscarded.self) { $0.messageID == link.id }
            try await fixture.snapshot { $0.state.parked == nil && $0.revision == 2 }
        }
    }
}
