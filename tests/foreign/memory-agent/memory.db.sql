CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, embedding BLOB NOT NULL, importance INTEGER DEFAULT 3, memory_type TEXT DEFAULT 'general', topic_tags TEXT DEFAULT '[]', source_session TEXT, created_at REAL NOT NULL, last_accessed REAL, access_count INTEGER DEFAULT 0);
CREATE TABLE memory_links (id INTEGER PRIMARY KEY AUTOINCREMENT, from_id INTEGER, to_id INTEGER, relationship TEXT NOT NULL);
INSERT INTO memories VALUES (1, 'The office WiFi runs on channel 11.', x'00', 2, 'fact', '["network", "wifi"]', 's1', 1767225600.0, NULL, 0);
INSERT INTO memories VALUES (2, 'We moved the WiFi to channel 36 because of the neighbours.', x'00', 5, 'decision', '["network"]', 's2', 1769904000.0, NULL, 3);
INSERT INTO memory_links VALUES (1, 2, 1, 'elaborates');
