import Testing

// One browser at a time: several of them on two processors are too slow for gestures.
@Suite("The page in a browser", .serialized)
struct PageTests {
    @Test("the story of the focus player, on the phone and on the mac", .timeLimit(.minutes(5)))
    func story() async throws {
        try await PageStory.tell("story.py")
    }

    @Test("two sessions with accounts of their own, side by side", .timeLimit(.minutes(5)))
    func sessions() async throws {
        try await PageStory.tell("sessions.py")
    }

    @Test(
        "every screen can be used by keyboard and with a screen reader, light and dark, wide and small",
        .timeLimit(.minutes(5)))
    func access() async throws {
        try await PageStory.tell("access.py")
    }

    @Test(
        "the inspector shows, sends and filters messages, and shows processes and dead letters",
        .timeLimit(.minutes(5)))
    func inspector() async throws {
        try await PageStory.tell("inspector.py")
    }

    @Test("hostile messages and pages of other origins do nothing", .timeLimit(.minutes(5)))
    func hostile() async throws {
        try await PageStory.tell("hostile.py")
    }

    @Test("gestures, the error banner, and a window that the browser blocks", .timeLimit(.minutes(5)))
    func gestures() async throws {
        try await PageStory.tell("gestures.py")
    }

    @Test("the page goes on after the kill -9 of a process", .timeLimit(.minutes(5)))
    func restarts() async throws {
        try await PageStory.tell("restarts.py")
    }

    @Test("tabs share one stream, and a reload shows the same state", .timeLimit(.minutes(5)))
    func tabs() async throws {
        try await PageStory.tell("tabs.py")
    }
}
