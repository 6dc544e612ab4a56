import NATSLayout
import Testing

@Suite struct RecopyingTests {
    @Test(arguments: [(Recopying(after: 12), "12"), (Recopying(after: 0, replicas: 3), "0/3")])
    func `The metadata of a stream says what is needed or under way`(recopying: Recopying, text: String) {
        #expect(recopying.text == text)
        #expect(Recopying(metadata: [JournalMetadata.recopyingKey: text]) == recopying)
    }

    @Test(arguments: [nil, "", "/", "12/", "/1", "1/0", "1/6", "-1/3", "18446744073709551615/3", "3/1/2", "x/1", "1/x"])
    func `Other text counts as nothing`(text: String?) {
        #expect(Recopying(metadata: text.map { [JournalMetadata.recopyingKey: $0] } ?? [:]) == nil)
    }
}
