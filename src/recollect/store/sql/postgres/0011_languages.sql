-- The words of texts that are not English are made by other rules: whoever opens the store next makes them again.

insert into meta (key, value) values ('words', 'again');
