import Contracts
import EventBus
import Navigation
import Routing
import SegueTestSupport
import Support
import TestSupport
import Testing

@Suite("Waiting calls of a router", .timeLimit(.minutes(1)))
struct RouterWaitingTests {
    let fixture = RoutingFixture()
    var router: Router<ShopRoute> { fixture.router() }

    @Test("A call without an answer ends at its deadline, and is not applied later")
    func unanswered() async throws {
        await #expect(throws: RouterError.unanswered(after: .seconds(5))) {
            async let call = router.push(.list)
            try await fixture.clock.sleepers()
            fixture.clock.advanceToNextDeadline()
            _ = try await call
        }
        try await withRunning(fixture.coordinator(.shop(), later: 6)) {
            let discarded = try await fixture.view.received(DomainEvent.MessageDiscarded.self)[0]
            #expect(try discarded.decode(DomainEvent.MessageDiscarded.self).reason == "expired")
            #expect(try await router.path?.routes == [])
        }
    }

    @Test("A call that waits ends when its task is cancelled")
    func cancelled() async throws {
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await router.push(.list) }
                try await fixture.clock.sleepers()
                group.cancelAll()
                _ = try await group.next()
            }
        }
    }

    @Test("A call is applied although the coordinator was away when it was made")
    func whileAway() async throws {
        async let call = router.push(.list)
        _ = try await fixture.view.received(Command.NavigationRequested.self)
        try await withRunning(fixture.coordinator(.shop())) { [fixture] in
            _ = try await fixture.view.first(Document.NavigationState.self) { $0.snapshot.revision == 1 }
        }
        #expect(try await call == 1)
    }

    @Test("A call that a guard holds back returns when it is processed")
    func heldBack() async throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "home", requests: [.push, .pop]) {
            for screen in ["home", "list", "item"] { Flow.Screen(screen) }
            Flow.Transition(
                on: "command.DataDispatched",
                guard: Flow.Guard(accept: "event.LaunchFinished", deadline: .seconds(5), meanwhile: .queue),
                do: [.push("list")])
        }
        try await withRunning(fixture.coordinator(flow)) {
            let asked = try await fixture.view.send(Command.DataDispatched(name: "List", data: [:]))
            async let first = router.push(.item(id: 1))
            _ = try await fixture.snapshot { $0.state.attempt?.queue.count == 1 }
            async let second = fixture.refusal { try await router.pop(5) }
            _ = try await fixture.snapshot { $0.state.attempt?.queue.count == 2 }
            async let third = router.push(.item(id: 3))
            _ = try await fixture.snapshot { $0.state.attempt?.queue.count == 3 }
            try await fixture.view.publish(DomainEvent.LaunchFinished(), causedBy: asked)
            // Each of seven changes is a revision: the attempt, three queued messages, the list, and two pushed items.
            #expect(try await first == 6)
            #expect(try await third == 7)
            #expect(try await second == .refused("5 screens cannot be popped: at most 2 can"))
            #expect(try await router.path?.routes == [.list, .item(id: 1), .item(id: 3)])
        }
    }

    @Test("Screens of another session or platform do not affect a router")
    func apart() async throws {
        try await withRunning(fixture.coordinator(.shop("ios"))) {
            try await withRunning(fixture.coordinator(.shop("mac"))) {
                let (mac, two) = (fixture.router("mac"), fixture.router(session: "two"))
                try await fixture.view.publish(DomainEvent.LaunchFinished(), subject: "two")
                try await mac.push(.list)
                try await two.push(.item(id: 2))
                await #expect(throws: RouterError.refused("there is nothing to pop on the path")) {
                    try await router.pop()
                }
                #expect(try await router.path?.routes == [])
                #expect(try await mac.path?.routes == [.list])
                #expect(try await two.path?.routes == [.item(id: 2)])
            }
        }
    }

    @Test("A subscriber to the path receives its current value, then each change once")
    func follows() async throws {
        try await withRunning(fixture.coordinator(.shop())) {
            try await router.push(.list)
            try await router.withPaths { paths in
                var paths = paths.makeAsyncIterator()
                let first = try #require(try await paths.next())
                #expect(first.routes == [.list])
                // The end of the leaving screen changes the state, but not the path.
                try await router.replacePath([.item(id: 1), .item(id: 2)])
                let gone = Command.ScreenGone(instance: first.entries[0].instance)
                try await fixture.view.send(gone, origin: fixture.phone)
                let second = try #require(try await paths.next())
                #expect(second.routes == [.item(id: 1), .item(id: 2)])
                let swiped = Command.BackCompleted(instance: second.entries[1].instance)
                try await fixture.view.send(swiped, origin: fixture.phone)
                #expect(try await paths.next()?.routes == [.item(id: 1)])
                // A rule pushes a screen that no route matches. The path of routes leaves it out.
                try await fixture.view.publish(DomainEvent.LaunchFinished())
                try await router.push(.list)
                #expect(try await paths.next()?.routes == [.item(id: 1), .list])
                #expect(try await fixture.snapshot()?.state.path.map(\.screen) == ["item", "notice", "list"])
            }
        }
    }
}
