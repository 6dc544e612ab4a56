import Testing

@Suite("The page in a browser")
struct PageTests {
    @Test("the story of the focus player, on the phone and on the mac", .timeLimit(.minutes(3)))
    func story() async throws {
        try await PageStory.tell("story.py")
    }

    @Test("gestures, the error banner, and a window that the browser blocks", .timeLimit(.minutes(3)))
    func gestures() async throws {
        try await PageStory.tell("gestures.py")
    }

    @Test("the page goes on after the kill -9 of a process", .timeLimit(.minutes(3)))
    func restarts() async throws {
        try await PageStory.tell("restarts.py")
    }

    @Test("tabs share one stream, and a reload shows the same state", .timeLimit(.minutes(3)))
    func tabs() async throws {
        try await PageStory.tell("tabs.py")
    }
}
