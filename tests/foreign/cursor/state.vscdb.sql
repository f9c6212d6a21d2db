CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.theme', 'dark');
INSERT INTO cursorDiskKV VALUES ('composerData:c1', '{"_v": 10, "composerId": "c1", "createdAt": 1748779200000, "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 2}]}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b1', '{"_v": 3, "type": 1, "bubbleId": "b1", "text": "We use pnpm in this repository, never npm.", "createdAt": "2025-06-01T12:00:00.000Z"}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b2', '{"_v": 3, "type": 2, "bubbleId": "b2", "text": "Switched the scripts to pnpm.", "createdAt": "2025-06-01T12:00:10.000Z"}');
INSERT INTO cursorDiskKV VALUES ('composerData:c0', '{"_v": 3, "composerId": "c0", "createdAt": 1733000000000, "conversation": [{"bubbleId": "o1", "type": 1, "text": "Indent with tabs."}]}');
