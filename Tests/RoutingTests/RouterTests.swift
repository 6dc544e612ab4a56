import Contracts
import EventBus
import Navigation
import Routing
import Support
import TestSupport
import Testing

@Suite("Router")
struct RouterTests {
    let fixture = RoutingFixture()
    var router: Router<ShopRoute> { fixture.router() }

    @Test("A call returns the revision in which it is done, and the new path can be read")
    func calls() async throws {
        #expect(try await router.path == nil)
        try await withRunning(fixture.coordinator(.shop())) {
            let start = try #require(try await router.path)
            #expect(start.routes == [])
            #expect(try await router.push(.list) == 1)
            #expect(try await router.push(.item(id: 7)) == 2)
            #expect(try await router.path?.routes == [.list, .item(id: 7)])
            #expect(try await router.replacePath([.item(id: 1), .list, .item(id: 2, tab: "size")]) == 3)
            #expect(try await router.path?.routes == [.item(id: 1), .list, .item(id: 2, tab: "size")])
            #expect(try await router.pop(2) == 4)
            #expect(try await router.path?.routes == [.item(id: 1)])
            #expect(try await router.popToRoot() == 5)
            #expect(try await router.path?.routes == [])
            #expect(try await fixture.discards().isEmpty)
        }
    }

    @Test("A call is a request of its platform's device, and the cause of its changes")
    func message() async throws {
        try await withRunning(fixture.coordinator(.shop())) {
            try await router.push(.item(id: 7))
            let command = try await fixture.view.journalled(Command.NavigationRequested.self)[0]
            #expect(
                try command.decode(Command.NavigationRequested.self).action
                    == ["push": ["screen": "item", "arguments": ["id": 7]]])
            #expect(command.attributes.platform == "ios")
            #expect(command.attributes.device == "phone-1")
            #expect(try await fixture.snapshot()?.cause == command.id)
        }
    }

    @Test("A swipe back and a pop lead to the same state, and the second of both is discarded")
    func swipe() async throws {
        let swiped = RoutingFixture()
        let popped = try await withRunning(fixture.coordinator(.shop())) {
            try await router.push(.list)
            let list = try await fixture.instances()[0]
            try await router.pop(from: list)
            try await fixture.view.send(Command.ScreenGone(instance: list), origin: fixture.phone)
            // The machine handles messages in order. When this call is answered, the previous message has been handled.
            try await router.push(.item(id: 1))
            return try #require(try await fixture.snapshot())
        }
        try await withRunning(swiped.coordinator(.shop())) {
            let router = swiped.router()
            try await router.push(.list)
            let list = try await swiped.instances()[0]
            try await swiped.view.send(Command.BackCompleted(instance: list), origin: swiped.phone)
            await #expect(throws: RouterError.late("screen instance '\(list)' was dismissed or never existed")) {
                try await router.pop(from: list)
            }
            try await router.push(.item(id: 1))
            #expect(try await swiped.snapshot()?.state == popped.state)
        }
    }

    @Test("A pop of an empty stack is refused with the machine's reason, and changes nothing")
    func emptyStack() async throws {
        try await withRunning(fixture.coordinator(.shop())) {
            await #expect(throws: RouterError.refused("there is nothing to pop on the path")) {
                try await router.pop()
            }
            await #expect(throws: RouterError.refused("the requested action changes nothing")) {
                try await router.popToRoot()
            }
            try await router.push(.list)
            await #expect(throws: RouterError.refused("2 screens cannot be popped: at most 1 can")) {
                try await router.pop(2)
            }
            await #expect(
                throws: RouterError.refused("'pop' removes at least one screen; write 1 or a greater number")
            ) {
                try await router.pop(0)
            }
            #expect(try await router.path?.routes == [.list])
            #expect(try await fixture.discards().count == 4)
        }
    }

    @Test("A call comes back to an open screen, and goes back until there is nothing to go back to")
    func going() async throws {
        try await withRunning(fixture.coordinator(.shop(requests: [.push, .goTo, .back]))) {
            try await router.push(.item(id: 1))
            try await router.push(.list)
            let item = try await fixture.instances()[0]
            #expect(try await router.goTo(.item(id: 1)) == 3)
            #expect(try await fixture.instances() == [item], "the same screen, not a new one")
            await #expect(throws: RouterError.refused("the requested action changes nothing")) {
                try await router.goTo(.item(id: 1))
            }
            #expect(try await router.goTo(.item(id: 2)) == 4)
            #expect(try await router.path?.routes == [.item(id: 1), .item(id: 2)])
            for revision in [5, 6] { #expect(try await router.back() == revision) }
            #expect(try await router.path?.routes == [])
            await #expect(throws: RouterError.refused("nothing to go back to")) { try await router.back() }
            await #expect(throws: RouterError.late("screen instance '\(item)' was dismissed or never existed")) {
                try await router.back(from: item)
            }
        }
    }

    @Test("Two pops at once close two screens, and a second pop of one screen is refused")
    func twoPops() async throws {
        try await withRunning(fixture.coordinator(.shop())) {
            try await router.replacePath([.list, .item(id: 1), .item(id: 2)])
            async let first = router.pop()
            async let second = router.pop()
            #expect(try await Set([first, second]) == [2, 3])
            #expect(try await router.path?.routes == [.list])

            async let third = fixture.refusal { try await router.pop() }
            async let fourth = fixture.refusal { try await router.pop() }
            let refusals = try await [third, fourth].compactMap(\.self)
            #expect(refusals == [.refused("there is nothing to pop on the path")])
            #expect(try await fixture.snapshot()?.revision == 4)
        }
    }

    @Test("A second tap on a screen's back button is discarded, and keeps the screen beneath")
    func late() async throws {
        try await withRunning(fixture.coordinator(.shop())) {
            try await router.replacePath([.list, .item(id: 1)])
            let item = try await fixture.instances()[1]
            try await router.pop(from: item)
            for call in [
                { try await router.pop(from: item) }, { try await router.push(.list, from: item) },
                { try await router.popToRoot(from: item) }, { try await router.replacePath([], from: item) },
            ] as [@Sendable () async throws -> Int] {
                await #expect(throws: RouterError.late("screen instance '\(item)' was dismissed or never existed")) {
                    try await call()
                }
            }
            #expect(try await router.path?.routes == [.list])
        }
    }

    @Test("A pop by a covered screen is refused, and the screen above it stays")
    func covered() async throws {
        try await withRunning(fixture.coordinator(.shop())) {
            try await router.replacePath([.list, .item(id: 1)])
            let list = try await fixture.instances()[0]
            let refusal = try await fixture.refusal { try await router.pop(from: list) }
            let reason = "another screen covers the screen instance '\(list)', which sent the request"
            #expect(refusal == .refused(reason))
            #expect(try await router.path?.routes == [.list, .item(id: 1)])
        }
    }

    @Test("A call that the flow does not allow is refused with the machine's reason")
    func refused() async throws {
        try await withRunning(fixture.coordinator(.shop(requests: [.pop]))) {
            let error = await #expect(throws: RouterError.self) { try await router.push(.list) }
            #expect(error == .refused("the flow does not let views request 'push': it allows pop"))
        }
        let unknown = RoutingFixture()
        try await withRunning(unknown.coordinator(.shop())) {
            let router = Router(Elsewhere.self, bus: unknown.view, platform: "ios", clock: unknown.clock)
            let error = await #expect(throws: RouterError.self) { try await router.push(.lst) }
            #expect(error == .refused("unknown screen 'lst'; did you mean 'list'?"))
            #expect(error?.description == "unknown screen 'lst'; did you mean 'list'?")
        }
    }

    private enum Elsewhere: Hashable, Codable, Sendable { case lst }

    @Test("A route that is not an enum case is refused before anything is sent")
    func noRoute() async throws {
        struct Point: Hashable, Codable, Sendable { var x = 1, y = 2 }
        let router = Router(Point.self, bus: fixture.view, platform: "ios")
        let error = await #expect(throws: RouterError.self) { try await router.push(Point()) }
        #expect(error?.description.hasSuffix("is not an enum case; make the route an enum") == true)
        #expect(try await fixture.view.journalled(Command.NavigationRequested.self).isEmpty)
    }
}
