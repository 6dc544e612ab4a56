import Testing

@Suite("The page in a browser")
struct PageTests {
    @Test("the story of the focus player, on the phone and on the mac", .timeLimit(.minutes(3)))
    func story() async throws {
        try await PageStory.tell("story.py")
    }
}
